import { firstUnexpected } from "../compare/fits.ts";
import { MAX_COMPARED_BYTES } from "../compare/judge.ts";
import type { Ledger } from "../compare/ledger.ts";
import type { ByteBudget } from "../concurrency/byteBudget.ts";
import type { Answer } from "../endpoint/answer.ts";
import { becomesAnother, type CanonicalRequest, formatRequest } from "../endpoint/canonicalRequest.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { ErrorTable } from "../legacy/legacyOutcome.ts";
import type { Reader } from "../reading/reader.ts";
import { parseJson } from "../rules/parseJson.ts";
import type { Json } from "../rules/rule.ts";
import type { Settings } from "../settings/settings.ts";
import { ask } from "../upstream/ask.ts";
import { BackendFailure, isItsFault, openBreaker } from "../upstream/breaker.ts";
import { UpstreamFailure } from "../upstream/failure.ts";
import { openUpstream, type Upstream } from "../upstream/upstream.ts";
import { errorAnswer } from "./errorAnswer.ts";
import { doesNotFitAt, isJsonType, notAnOutcome, notJson, notJsonType } from "./whyUnserved.ts";

/**
 * Modern's answer as it is served, and the excerpt of its document where it is one; or why it cannot be. `status`: the status it
 * answered with, where it answered at all.
 */
export type ModernReply =
  | { answer: Answer; document?: Json }
  | { failed: string; status?: number; /** That says nothing of modern. */ isUnasked?: boolean };

/** What modern said, whatever it is worth. */
type ModernGiven = { status: number; contentType: string; text: string };

/** `client`: the address that asks. `from`: whose turn it is where answers are read, without saying a key. */
type ModernCaller = { key?: string; client?: string; from?: string; headers: string[]; deadline: number };

export type ModernClient = {
  /** Asks once; `again`: past its caches. Never throws for what modern does. */
  ask(endpoint: NamedEndpoint, request: CanonicalRequest, caller: ModernCaller, again?: boolean): Promise<ModernReply>;
  /** Asks as a mirror does: a failure is its own affair, and opens no circuit for callers. */
  look(request: CanonicalRequest, caller: ModernCaller, again?: boolean): Promise<ModernGiven | { failed: string }>;
};

type NamedEndpoint = Endpoint & { name: string };

/** By what an answer of modern's is judged, before it is served. */
export type Judging = {
  errors: ErrorTable;
  /** What modern's documents may do differently, as it is in force. */
  ledger: () => Ledger;
  /** Where a document is not what its endpoint promises; a large one is read in another thread. */
  check: Reader["checkModern"];
};

/** `base`: the path below which modern serves the interface, without a slash at its end. */
const modernClient = (
  upstream: Upstream,
  { base, host, maxReply, ...judging }: { base: string; host: string; maxReply: number } & Judging,
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
      if (becomesAnother(request)) return { ...otherPath, isUnasked: true };
      try {
        const asked = await breaker.execute({ request: formatRequest(request), caller }, async () => {
          const given = await send(request, caller, again);
          const reply = await readModern(endpoint, given, judging, caller);
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
      if (becomesAnother(request)) return otherPath;
      try {
        return textOf(await send(request, caller, again, Math.min(maxReply, MAX_COMPARED_BYTES)));
      } catch (error) {
        if (error instanceof UpstreamFailure) return { failed: error.message };
        throw error;
      }
    },
  };
};

const otherPath = { failed: "the path would become another" };

type ModernBytes = { status: number; contentType: string; bytes: Buffer };

const textOf = ({ status, contentType, bytes }: ModernBytes): ModernGiven => ({
  status,
  contentType,
  text: bytes.toString("utf8"),
});

/** More than any error has, in bytes. */
const MAX_ERROR_BYTES = 128 * 1024;

/** What modern said, held against what the interface promises: the schema of a document, the outcomes of the endpoint. */
const readModern = async (
  endpoint: NamedEndpoint,
  given: ModernBytes,
  { errors, ledger, check }: Judging,
  { from = "", deadline }: ModernCaller,
): Promise<ModernReply> => {
  const { status, contentType, bytes } = given;
  if (status === 200) {
    if (!isJsonType(contentType)) return { failed: notJsonType(contentType), status };
    const checked = await check(endpoint.name, bytes, { caller: from, deadline });
    if ("unread" in checked) return { failed: `its answer could not be read (${checked.unread})`, status };
    if ("failed" in checked) return { ...checked, status };
    const misfit = firstUnexpected(endpoint.name, ledger(), checked.misfits);
    if (misfit !== undefined) return { failed: doesNotFitAt(misfit), status };
    const { body, tag, excerpt } = checked;
    return { answer: { status, body, ...(tag === undefined ? {} : { tag }) }, document: excerpt };
  }
  if (status < 400 || status >= 500 || bytes.length > MAX_ERROR_BYTES) return { failed: notAnOutcome(status), status };
  const document = parseJson(bytes.toString("utf8"));
  if (document === undefined) return { failed: notJson, status };
  const answer = errorAnswer(endpoint, errors, textOf(given), document);
  return answer ? { answer } : { failed: notAnOutcome(status), status };
};

/** Connections of its own to modern: what waits there holds up nothing else. */
export const openModern = (
  url: string,
  settings: Settings,
  judging: Judging,
  replies: ByteBudget,
): { client: ModernClient; close: () => Promise<void> } => {
  const { origin, pathname, host } = new URL(url);
  const upstream = openUpstream({
    origin,
    connections: settings.MAX_CONNECTIONS,
    waiting: settings.MAX_WAITING,
    waitTimeout: settings.WAIT_TIMEOUT_MS,
    connectTimeout: settings.CONNECT_TIMEOUT_MS,
    headersTimeout: settings.HEADERS_TIMEOUT_MS,
    bodyTimeout: settings.BODY_TIMEOUT_MS,
    replies,
  });
  const base = pathname.replace(/\/$/, "");
  return {
    client: modernClient(upstream, { base, host, maxReply: settings.MAX_REPLY_BYTES, ...judging }),
    close: () => upstream.close(),
  };
};
