import { contexts, type Holding, HttpExchange, runStep } from "../../operation/index.ts";
import type { ForOne, LegacyRequest, Outcome } from "../../catalogue/index.ts";
import { ask, type UpstreamReply } from "./ask.ts";
import { viaThis } from "./forwarding.ts";
import { type FailureKind, isItsFault, UpstreamFailure } from "./failure.ts";
import type { OpenBackend } from "./openBackend.ts";
import type { Upstream } from "./upstream.ts";

/**
 * The caller for whom the gateway asks legacy. `key` is sent along. `client`: the address of a request from outside.
 * `headers`: those that identify the client (Forwarded, Via, ...). `deadline`: on the clock of `performance.now()`.
 * `signal` ends the call. `exchange` counts the calls. `holding` reserves the bytes of large answers and their results.
 */
export type Caller = {
  key?: string | undefined;
  client?: string | undefined;
  headers: string[];
  deadline: number;
  signal?: AbortSignal;
  exchange?: Pick<HttpExchange, "countCall"> | undefined;
  holding?: Holding | undefined;
  /** No client waits for this call, or the client has another answer: the call is not made while legacy fails. */
  isBackground?: true;
  /** Gets each reply from legacy: a comparison shows the reply itself. */
  onReply?: (reply: UpstreamReply) => void;
};

/** The gateway itself as the caller, without a client. `timeout`: milliseconds for all of its calls. */
export const ownCaller = (timeout: number): Caller => ({
  headers: ["user-agent", "catalog-gateway"],
  deadline: performance.now() + timeout,
  isBackground: true,
});

/** The same caller for a call without a waiting client: with its own `timeout` in ms, and its own bytes. */
export const withoutClient = <C extends Caller>(caller: C, timeout: number): C => ({
  ...caller,
  deadline: performance.now() + timeout,
  holding: undefined,
  isBackground: true,
});

/** Fetches one form of one resource from legacy. Without an answer it returns the outcome of the failure. */
export type LegacyClient = (
  request: LegacyRequest,
  form: "json" | "xml",
  caller: Caller,
) => Promise<UpstreamReply | LegacyFailed>;

/**
 * A call without an answer. `why`: for the log. `isItsFault`: legacy could not be reached, took too long or broke off.
 * `isUnsent`: legacy cannot have received any part of the request. `forOne`: another caller may get an answer.
 */
export type LegacyFailed = {
  failed: Outcome;
  why: string;
  isItsFault?: boolean;
  isUnsent?: boolean;
  forOne?: ForOne | undefined;
};

type LegacyClientSettings = {
  /** The path below which the interface is: `/api/v1`. */
  path: string;
  /** The Host header of requests to legacy. */
  host: string;
  maxReply: number;
  /** Milliseconds for the answer to a read that old clients share. */
  collectTimeout: number;
};

/** A client for legacy's interface. While legacy fails, calls fail at once. */
export const legacyClient =
  (backend: Pick<OpenBackend, "call">, upstream: Upstream, settings: LegacyClientSettings): LegacyClient =>
  (request, form, caller) =>
    runStep("legacy", { "http.request.method": request.method }, async () => {
      try {
        // A write that is not sent has changed nothing. A write that fails may have been performed.
        const isNeeded = caller.isBackground !== true && request.method === "GET";
        const answered = await backend.call(() => send(upstream, settings, request, form, caller), isNeeded);
        return answered ?? legacyFails;
      } catch (error) {
        return failedBy(error);
      }
    });

/**
 * A path of legacy's interface, as its clients request it. `scheme`: that of the client's request. `client`: the
 * client's address. `isBackground`: the client has another answer. `maxBytes`: of the answer. `posted`: a urlencoded
 * form; the gateway then sends a POST instead of a GET.
 */
type PathRequest = {
  path: string;
  form: "json" | "xml";
  scheme: string;
  client: string;
  holding: Holding;
  isBackground: boolean;
  maxBytes: number;
  posted?: string;
};

/** The headers of a request that the gateway makes itself, without a client's headers. */
export const ownHeaders = (host: string, form: "json" | "xml", scheme: string): string[] => {
  const headers = ["host", host, "accept", form === "json" ? "application/json" : "text/xml"];
  headers.push("user-agent", "catalog-gateway", "via", viaThis(undefined), "x-forwarded-proto", scheme);
  headers.push("x-request-id", new HttpExchange().id);
  return headers;
};

/**
 * Fetches the public answer to a path from legacy. `undefined`: legacy fails. A coded answer stays coded.
 *
 * @throws An `UpstreamFailure` without an answer.
 */
export type FetchPath = (request: PathRequest) => Promise<UpstreamReply | undefined>;

/**
 * Fetches paths of legacy's interface with the gateway's headers: a client's headers do not reach legacy, and so cannot
 * change an answer that other clients get.
 */
export const pathFetcher =
  (
    backend: Pick<OpenBackend, "call">,
    upstream: Upstream,
    { host, collectTimeout: totalTimeout }: Pick<LegacyClientSettings, "host" | "collectTimeout">,
  ): FetchPath =>
  ({ path, form, scheme, holding, isBackground, maxBytes, posted }) => {
    const method = posted === undefined ? "GET" : "POST";
    const headers = ownHeaders(host, form, scheme);
    if (posted !== undefined) headers.push("content-type", "application/x-www-form-urlencoded");
    const sent = { method, path, headers, ...(posted !== undefined && { body: posted }) };
    // The call runs outside of the request's context, which would add the request's id and trace.
    return contexts.run(undefined, () =>
      backend.call(() => ask(upstream, { ...sent, maxBytes, totalTimeout, holding, takesCoded: true }), !isBackground),
    );
  };

/**
 * Sends one request.
 *
 * @throws An `UpstreamFailure` without an answer. The circuit breaker counts it if legacy is at fault.
 */
const send = async (
  upstream: Upstream,
  { path, host, maxReply }: LegacyClientSettings,
  ...[request, form, { key, headers, deadline, signal, exchange, holding, onReply }]: Parameters<LegacyClient>
): Promise<UpstreamReply> => {
  const isPost = request.method === "POST";
  const fields = isPost || key !== undefined ? new URLSearchParams(isPost ? request.form : undefined) : undefined;
  // Legacy takes a key from the query first, but a query ends up in its access log.
  if (key !== undefined) fields?.set("api_key", key);
  const query = isPost || fields === undefined ? "" : `?${fields.toString()}`;
  const sent = ["host", host, "accept", form === "json" ? "application/json" : "text/xml", ...headers];
  const posted = isPost && fields !== undefined ? await formBody(fields, request.files) : undefined;
  if (posted) sent.push("content-type", posted.type);
  const reply = await ask(upstream, {
    method: request.method,
    path: `${path}/${form}${request.path}${query}`,
    headers: sent,
    ...(posted ? { body: posted.body } : {}),
    maxBytes: maxReply,
    totalTimeout: Math.max(1, deadline - performance.now()),
    ...(signal ? { signal } : {}),
    exchange,
    holding,
    target: { segments: [form, ...request.path.split("/").slice(1)] },
  });
  onReply?.(reply);
  return reply;
};

/**
 * The outcome of a failed call.
 *
 * @throws The error itself if it is not an `UpstreamFailure`.
 */
const failedBy = (error: unknown): LegacyFailed => {
  if (!(error instanceof UpstreamFailure)) throw error;
  return {
    failed: failures[error.kind],
    why: error.message,
    isItsFault: isItsFault(error),
    isUnsent: error.isUnsent,
    forOne: isForOne.has(error.kind) ? "noRoom" : undefined,
  };
};

const isForOne: ReadonlySet<FailureKind> = new Set(["overloaded", "crowded", "aborted"]);

/** A form's bytes and their media type. */
const formBody = async (
  fields: URLSearchParams,
  files: Record<string, string> | undefined,
): Promise<{ type: string; body: string | Buffer }> => {
  if (files === undefined) return { type: "application/x-www-form-urlencoded", body: fields.toString() };
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  for (const [name, xml] of Object.entries(files))
    form.append(name, new Blob([xml], { type: "text/xml" }), `${name}.xml`);
  const written = new Response(form);
  return { type: written.headers.get("content-type") as string, body: Buffer.from(await written.arrayBuffer()) };
};

const failures: Record<FailureKind, Outcome> = {
  unreachable: { kind: "broken", message: "The legacy interface could not be reached." },
  timeout: { kind: "tooSlow", message: "The legacy interface took too long to answer." },
  overloaded: { kind: "unavailable", message: "Too many requests wait for the legacy interface." },
  broken: { kind: "broken", message: "The legacy interface broke off its answer." },
  tooLarge: { kind: "broken", message: "The legacy interface's answer is too large." },
  crowded: { kind: "unavailable", message: "Too many large answers of the legacy interface come at the same time." },
  aborted: { kind: "broken", message: "The request to the legacy interface was given up." },
  fault: { kind: "broken", message: "The gateway failed." },
};

const legacyFails: LegacyFailed = {
  failed: { kind: "unavailable", message: "The legacy interface is failing. Try again later." },
  why: "legacy fails",
  isUnsent: true,
  // The next request for the same answer may find that legacy is back.
  forOne: "unasked",
};
