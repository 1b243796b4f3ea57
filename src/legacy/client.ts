import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import { ask } from "../upstream/ask.ts";
import { isItsFault } from "../upstream/breaker.ts";
import { type FailureKind, isConnectionFailure, UpstreamFailure } from "../upstream/failure.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { type LegacyReading, readLegacy } from "./reading.ts";
import type { XmlReader } from "./xml.ts";

export type LegacyReply = { status: number; readonly reading: LegacyReading };

/** An answer's bytes. `contentType` is empty where there is none. `reading` parses them, in this thread, when it is looked at: what may be large goes to the reader instead. */
export type LegacyAnswer = LegacyReply & { contentType: string; body: Buffer };

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
 * On whose behalf legacy is asked: the key that travels, who asks (Forwarded, Via, ...), and until when it may take (ms since the epoch) or
 * is wanted at all. `client` is the address that the request came from, where it came from outside. `spent` grows with every call.
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

/** Asks legacy for one form of one resource; a failure to get any answer comes back as its outcome, with what failed. */
export type LegacyClient = (
  request: LegacyRequest,
  form: "json" | "xml",
  caller: Caller,
  readXml: XmlReader,
) => Promise<LegacyAnswer | LegacyFailed>;

/**
 * `isItsFault`: it could not be reached, took too long or broke off, not that it was never asked. `isUnconnected`: there was no connection.
 * `isUnsent`: legacy cannot have got anything of the request.
 */
export type LegacyFailed = {
  failed: Outcome;
  why: string;
  isItsFault?: boolean;
  isUnconnected?: boolean;
  isUnsent?: boolean;
};

export type LegacyClientSettings = {
  /** Where the interface begins: `/api/v1`. */
  path: string;
  /** The Host that legacy is addressed by. */
  host: string;
  maxReply: number;
};

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
