import { type CanonicalRequest, told } from "../endpoint/canonicalRequest.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Answer } from "../outcome/answer.ts";
import { MOST_COMPARED } from "../migration/shadow.ts";
import { isObject, type Json } from "../rules/rule.ts";
import { ask } from "../upstream/ask.ts";
import { BackendFailure, isItsFault, openBreaker } from "../upstream/breaker.ts";
import { UpstreamFailure } from "../upstream/failure.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** Modern's answer as it is served, and its document; or why it cannot be. `given`: what it really said, where it said anything. */
export type ModernReply =
  | { answer: Answer; document: Json; given: ModernGiven }
  | { failed: string; given?: ModernGiven; /** That says nothing of modern. */ isUnasked?: boolean };

/** What modern said, whatever it is worth. */
export type ModernGiven = { status: number; contentType: string; text: string };

export type ModernCaller = { key?: string; client?: string; headers: string[]; deadline: number };

export type ModernClient = {
  /** Asks once; `again`: past its caches. Never throws for what modern does. */
  ask(endpoint: Endpoint, request: CanonicalRequest, caller: ModernCaller, again?: boolean): Promise<ModernReply>;
  /** Asks as a mirror does: a failure is its own affair, and opens no circuit for callers. */
  look(request: CanonicalRequest, caller: ModernCaller, again?: boolean): Promise<ModernGiven | { failed: string }>;
};

/** `base`: the path below which modern serves the interface, without a slash at its end. */
export const modernClient = (
  upstream: Upstream,
  { base, host, maxReply }: { base: string; host: string; maxReply: number },
): ModernClient => {
  const breaker = openBreaker();

  const send = async (
    { method, path, body }: CanonicalRequest,
    caller: ModernCaller,
    again: boolean,
    most = maxReply,
  ): Promise<ModernGiven> => {
    // Every implementation takes a key in the query, not every one in a header.
    const query = caller.key === undefined ? "" : `?api_key=${encodeURIComponent(caller.key)}`;
    const headers = ["host", host, "accept", "application/json", ...caller.headers];
    if (again) headers.push("cache-control", "no-cache");
    if (body !== undefined) headers.push("content-type", "application/json");
    const {
      status,
      contentType,
      body: bytes,
    } = await ask(upstream, {
      method,
      path: `${base}${path}${query}`,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      maxBytes: most,
      totalTimeout: Math.max(1, caller.deadline - Date.now()),
    });
    return { status, contentType, text: bytes.toString("utf8") };
  };

  return {
    async ask(endpoint, request, caller, again = false) {
      if (isNoPath(request)) return { ...otherPath, isUnasked: true };
      try {
        const asked = await breaker.execute({ request: told(request), caller }, async () => {
          const given = await send(request, caller, again);
          const reply = readModern(endpoint, given);
          if (given.status >= 500) throw new BackendFailure(`it answered ${given.status}`);
          return reply;
        });
        return asked ?? { failed: "the circuit is open" };
      } catch (error) {
        if (error instanceof UpstreamFailure || error instanceof BackendFailure)
          return { failed: error.message, isUnasked: !isItsFault(error) };
        throw error;
      }
    },
    async look(request, caller, again = false) {
      if (isNoPath(request)) return otherPath;
      try {
        return await send(request, caller, again, Math.min(maxReply, MOST_COMPARED));
      } catch (error) {
        if (error instanceof UpstreamFailure) return { failed: error.message };
        throw error;
      }
    },
  };
};

/** A server resolves such segments: it would answer another question. */
const isNoPath = ({ path }: CanonicalRequest): boolean => /\/\.{1,2}(\/|$)|\/\//.test(path);
const otherPath = { failed: "the path would become another" };

/** What modern said, held against what the interface promises: the schema of a document, the form of an error. */
const readModern = (endpoint: Endpoint, given: ModernGiven): ModernReply => {
  const { status, contentType, text } = given;
  const document = parsed(text);
  if (document === undefined) return { failed: "its answer is no JSON", given };
  if (status === 200) {
    const checked = endpoint.output.schema.safeParse(document);
    const [issue] = checked.error?.issues ?? [];
    return issue === undefined
      ? { answer: { status, body: text }, document, given }
      : { failed: `its answer does not fit at /${issue.path.join("/")}`, given };
  }
  const isError = status >= 400 && status < 500 && isObject(document) && document["detail"] !== undefined;
  if (!isError || !/^application\/json\s*(;|$)/i.test(contentType))
    return { failed: `its ${status} is no answer of the interface`, given };
  const headers = status === 401 ? { "WWW-Authenticate": 'Bearer realm="catalogue"' } : undefined;
  return { answer: { status, body: text, ...(headers ? { headers } : {}) }, document, given };
};

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
