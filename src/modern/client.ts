import { BrokenCircuitError, TaskCancelledError } from "cockatiel";
import type { CanonicalRequest } from "../endpoint/canonicalRequest.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Answer } from "../outcome/answer.ts";
import { MOST_COMPARED } from "../migration/shadow.ts";
import type { Reader } from "../reading/reader.ts";
import { isObject, type Json } from "../rules/rule.ts";
import { ask } from "../upstream/ask.ts";
import { BackendFailure, isItsFault, isProbing, openBreaker } from "../upstream/breaker.ts";
import { UpstreamFailure } from "../upstream/failure.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** Modern's answer as it is served, and the excerpt of its document where it is one; or why it cannot be. */
export type ModernReply =
  | { answer: Answer; document?: Json }
  | { failed: string; /** That says nothing of modern. */ isUnasked?: boolean };

/** What modern said, whatever it is worth. */
export type ModernGiven = { status: number; contentType: string; text: string };

/** `from`: who asks, without saying a key. */
export type ModernCaller = { key?: string; from?: string; headers: string[]; deadline: number };

export type ModernClient = {
  /** Asks once; `again`: past its caches. Never throws for what modern does. */
  ask(endpoint: NamedEndpoint, request: CanonicalRequest, caller: ModernCaller, again?: boolean): Promise<ModernReply>;
  /** Asks as a mirror does: a failure is its own affair, and opens no circuit for callers. */
  look(request: CanonicalRequest, caller: ModernCaller, again?: boolean): Promise<ModernGiven | { failed: string }>;
};

type NamedEndpoint = Endpoint & { name: string };

/** Whether a document is what its endpoint promises; a large one is read in another thread. */
export type CheckModern = Reader["checkModern"];

/** `base`: the path below which modern serves the interface, without a slash at its end. */
export const modernClient = (
  upstream: Upstream,
  { base, host, maxReply, check }: { base: string; host: string; maxReply: number; check: CheckModern },
): ModernClient => {
  const breaker = openBreaker();

  const send = async (
    { method, path, body }: CanonicalRequest,
    caller: ModernCaller,
    again: boolean,
    most = maxReply,
  ): Promise<ModernBytes> => {
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
    return { status, contentType, bytes };
  };

  return {
    async ask(endpoint, request, caller, again = false) {
      if (isNoPath(request)) return { ...otherPath, isUnasked: true };
      if (isProbing(breaker)) return { failed: "the circuit is open" };
      try {
        return await breaker.execute(async () => {
          const given = await send(request, caller, again);
          const reply = await readModern(endpoint, given, check, caller);
          if (given.status >= 500) throw new BackendFailure(`it answered ${given.status}`);
          return reply;
        });
      } catch (error) {
        if (error instanceof UpstreamFailure || error instanceof BackendFailure)
          return { failed: error.message, isUnasked: !isItsFault(error) };
        if (error instanceof BrokenCircuitError || error instanceof TaskCancelledError)
          return { failed: "the circuit is open" };
        throw error;
      }
    },
    async look(request, caller, again = false) {
      if (isNoPath(request)) return otherPath;
      try {
        return textOf(await send(request, caller, again, Math.min(maxReply, MOST_COMPARED)));
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

type ModernBytes = { status: number; contentType: string; bytes: Buffer };

const textOf = ({ status, contentType, bytes }: ModernBytes): ModernGiven => ({
  status,
  contentType,
  text: bytes.toString("utf8"),
});

/** More than any error has, in bytes. */
const LONGEST_ERROR = 128 * 1024;

/** What modern said, held against what the interface promises: the schema of a document, the form of an error. */
const readModern = async (
  endpoint: NamedEndpoint,
  given: ModernBytes,
  check: CheckModern,
  { from = "", deadline }: ModernCaller,
): Promise<ModernReply> => {
  const { status, contentType, bytes } = given;
  if (status === 200) {
    const checked = await check(endpoint.name, bytes, { caller: from, deadline });
    if ("unread" in checked) return { failed: `its answer could not be read (${checked.unread})` };
    return "failed" in checked
      ? checked
      : {
          answer: { status, body: checked.body, ...(checked.tag ? { tag: checked.tag } : {}) },
          document: checked.excerpt,
        };
  }
  const text = bytes.length > LONGEST_ERROR ? "" : bytes.toString("utf8");
  const document = parsed(text);
  if (document === undefined) return { failed: "its answer is no JSON" };
  const isError = status >= 400 && status < 500 && isObject(document) && document["detail"] !== undefined;
  if (!isError || !/^application\/json\s*(;|$)/i.test(contentType))
    return { failed: `its ${status} is no answer of the interface` };
  const headers = status === 401 ? { "WWW-Authenticate": 'Bearer realm="catalogue"' } : undefined;
  return { answer: { status, body: text, ...(headers ? { headers } : {}) } };
};

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
