import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import { ask } from "../upstream/ask.ts";
import { isItsFault, BackendFailure, openBreaker } from "../upstream/breaker.ts";
import { type FailureKind, isConnectionFailure, UpstreamFailure } from "../upstream/failure.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { type LegacyReading, readLegacy } from "./reading.ts";
import type { XmlReader } from "./xml.ts";

/** A legacy answer that was read. */
export type LegacyReply = { status: number; readonly reading: LegacyReading };

/** An answer's bytes. The first look at `reading` parses them in this thread; large ones go to the reader instead. */
export type LegacyAnswer = LegacyReply & { contentType: string; body: Buffer };

/** The answer with this status and body. */
/** `contentType` is empty where there is none. */
export const legacyAnswer = (status: number, body: Buffer, readXml: XmlReader, contentType = ""): LegacyAnswer => {
  let reading: LegacyReading | undefined;
  return {
    status,
    contentType,
    body,
    get reading() {
      return (reading ??= readLegacy(body, readXml));
    },
  };
};

/**
 * On whose behalf legacy is asked. `key` is sent along. `client`: the address of a request from outside. `headers`: who asks (Forwarded,
 * Via, ...). `deadline`: milliseconds since the epoch. `signal` ends the call. `spent` grows with every call.
 */
export type Caller = {
  key?: string;
  client?: string;
  headers: string[];
  deadline: number;
  signal?: AbortSignal;
  /** Fires when the client is gone. */
  leaving?: AbortSignal;
  spent?: { calls: number; ms: number };
};

/** Asks legacy for one form of one resource. Without an answer it returns the outcome of the failure. */
export type LegacyClient = (
  request: LegacyRequest,
  form: "json" | "xml",
  caller: Caller,
  readXml: XmlReader,
) => Promise<LegacyAnswer | LegacyFailed>;

/**
 * A call without an answer. `why`: for the log. `isItsFault`: legacy could not be reached, took too long or broke off. `isUnconnected`:
 * there was no connection. `isUnsent`: legacy cannot have received any part of the request.
 */
export type LegacyFailed = {
  failed: Outcome;
  why: string;
  isItsFault?: boolean;
  isUnconnected?: boolean;
  isUnsent?: boolean;
};

/** Where legacy's interface is. `maxReply`: most bytes of an answer. */
type LegacyClientSettings = {
  /** Where the interface begins: `/api/v1`. */
  path: string;
  /** The Host that legacy is addressed by. */
  host: string;
  maxReply: number;
};

/** A client for legacy's interface at this upstream. */
export const legacyClient =
  (upstream: Upstream, { path, host, maxReply }: LegacyClientSettings): LegacyClient =>
  async (request, form, { key, headers, deadline, signal }, readXml) => {
    const isPost = request.method === "POST";
    const fields = new URLSearchParams(isPost ? request.form : undefined);
    // Legacy takes a key from the query first, but a query ends up in its access log.
    if (key !== undefined) fields.set("api_key", key);
    const query = !isPost && key !== undefined ? `?${fields.toString()}` : "";
    const sent = ["host", host, "accept", form === "json" ? "application/json" : "text/xml", ...headers];
    if (isPost) sent.push("content-type", "application/x-www-form-urlencoded");
    try {
      const reply = await ask(upstream, {
        method: request.method,
        path: `${path}/${form}${request.path}${query}`,
        headers: sent,
        ...(isPost ? { body: fields.toString() } : {}),
        maxBytes: maxReply,
        totalTimeout: Math.max(1, deadline - Date.now()),
        ...(signal ? { signal } : {}),
      });
      return legacyAnswer(reply.status, reply.body, readXml, reply.contentType);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      return {
        failed: failures[error.kind],
        why: error.message,
        isItsFault: isItsFault(error),
        isUnconnected: isConnectionFailure(error),
        isUnsent: error.isUnsent,
      };
    }
  };

const failures: Record<FailureKind, Outcome> = {
  unreachable: { kind: "broken", message: "The legacy interface could not be reached." },
  timeout: { kind: "tooSlow", message: "The legacy interface took too long to answer." },
  overloaded: { kind: "unavailable", message: "Too many requests wait for the legacy interface." },
  broken: { kind: "broken", message: "The legacy interface broke off its answer." },
  tooLarge: { kind: "broken", message: "The legacy interface's answer is too large." },
  crowded: { kind: "unavailable", message: "Too many large answers of the legacy interface come at the same time." },
  aborted: { kind: "broken", message: "The request to the legacy interface was given up." },
};

/** A failed call, on its way through the breaker. */
class LegacyFailure extends BackendFailure {
  readonly reply: LegacyFailed;
  constructor(reply: LegacyFailed) {
    super(reply.why);
    this.reply = reply;
    this.isUnconnected = reply.isUnconnected === true;
  }
}

const open: LegacyFailed = {
  failed: { kind: "unavailable", message: "The legacy interface fails; it is given time." },
  why: "the circuit is open",
  isUnsent: true,
};

/** The same client behind a circuit breaker: while legacy fails, calls fail at once. */
export const withBreaker = (client: LegacyClient): LegacyClient => {
  const breaker = openBreaker();
  return async (request, form, caller, readXml) => {
    const question = `${request.method} ${request.path} ${new URLSearchParams(request.form).toString()}`;
    try {
      const asked = await breaker.execute({ request: question, caller }, async () => {
        const reply = await client(request, form, caller, readXml);
        if ("failed" in reply && reply.isItsFault) throw new LegacyFailure(reply);
        return reply;
      });
      return asked ?? open;
    } catch (error) {
      if (error instanceof LegacyFailure) return error.reply;
      throw error;
    }
  };
};

/** The same client; `onCall` gets each call's failure and its milliseconds, and the caller's `spent` grows by them. */
export const metered =
  (client: LegacyClient, onCall: (failed: boolean, ms: number) => void): LegacyClient =>
  async (request, form, caller, readXml) => {
    const started = performance.now();
    const reply = await client(request, form, caller, readXml);
    const took = performance.now() - started;
    onCall("failed" in reply, took);
    if (caller.spent) {
      caller.spent.calls++;
      caller.spent.ms += took;
    }
    return reply;
  };
