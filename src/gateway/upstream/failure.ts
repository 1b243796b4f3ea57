import { createRequire } from "node:module";
import type * as Undici from "undici";
import { connectionCause, describeReason, type Reason, shownTarget, truncate } from "../../operation/index.ts";

const { HTTPParserError, SocketError, UndiciError } = createRequire(import.meta.resolve("undici"))(
  "./lib/core/errors.js",
) as typeof Undici.errors;

/**
 * Every way in which a request to the upstream can fail. `fault`: code of the gateway has thrown; the error is the
 * failure's `cause`.
 */
export type FailureKind =
  | "unreachable"
  | "timeout"
  | "overloaded"
  | "broken"
  | "tooLarge"
  | "crowded"
  | "aborted"
  | "fault";

/** The parts of a request that an error may name. */
export type RequestLine = { method: string; path: string };

/** A request that was sent to an upstream. Times are on the clock of `performance.now()`. */
export type RequestUnderWay = {
  readonly request: RequestLine & { headers?: unknown };
  /** The time at which it first got a place among the connections; until then 0. */
  readonly startedAt: number;
  /** The time at which all of it had been sent; until then 0. */
  readonly sentAt: number;
  /** The request has waited too long for its first byte, and this has been reported. */
  isLate: boolean;
};

const sentences: Record<FailureKind, string> = {
  unreachable: "The upstream could not be reached",
  timeout: "The upstream took too long",
  overloaded: "Too many requests wait for the upstream",
  broken: "The upstream broke off or answered with something that is no sound HTTP",
  tooLarge: "The upstream's answer is larger than allowed",
  crowded: "Too many bytes of other requests or answers are being collected",
  aborted: "The request was given up",
  fault: "The gateway failed",
};

/** The reason, for operators, why an upstream counts as failing. */
const whys: Partial<Record<FailureKind, string>> = {
  unreachable: "it cannot be reached",
  timeout: "it takes too long to answer",
  broken: "it breaks off its answers",
};

/**
 * The error of a failed request to the upstream. Its message has the cause's code and words, the method and the path.
 * It leaves out the query, which may hold a key.
 */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
  readonly kind: FailureKind;
  /** The upstream cannot have received any part of the request. */
  isUnsent = false;

  /** `reason`: replaces the cause's code and words in the message. */
  constructor(kind: FailureKind, request: RequestLine, cause?: unknown, reason?: string) {
    const shown = reason ?? describeReason({ why: codeOf(cause), details: connectionCause(cause) });
    super(
      `${sentences[kind]}${shown && ` (${shown})`}: ${request.method} ${withoutQuery(request.path)}`,
      cause === undefined ? undefined : { cause },
    );
    this.kind = kind;
  }

  /** The reason of the failure, with details that help an operator to act, if they are known. */
  get reason(): Reason {
    const details = this.cause instanceof HTTPParserError ? "they are no sound HTTP" : connectionCause(this.cause);
    return { why: whys[this.kind] ?? sentences[this.kind], details };
  }
}

const itsFault: ReadonlySet<FailureKind> = new Set(["unreachable", "timeout", "broken"]);

/** True if an error is the upstream's fault. A request that was aborted or not sent is not the upstream's fault. */
export const isItsFault = (error: unknown): error is UpstreamFailure =>
  error instanceof UpstreamFailure && itsFault.has(error.kind);

/** Characters of a path that a message shows. */
const MAX_PATH = 200;

/**
 * The path for a message, without the query and possible keys: `/data/1?api_key=x` -> `/data/1`. A long path is cut.
 */
export const withoutQuery = (path: string): string =>
  truncate(shownTarget(path.split(/[?#]/, 1)[0] as string), MAX_PATH);

/** The code that a reset of an open connection gets, see `upstream.ts`. */
export const connectionReset = "ERR_UPSTREAM_RESET";

const kindOfCode: Record<string, FailureKind> = {
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  ETIMEDOUT: "timeout",
  UND_ERR_ABORTED: "aborted",
  UND_ERR_CLOSED: "unreachable",
  UND_ERR_DESTROYED: "unreachable",
};

/** The code of undici's or Node's error, empty if it has no code. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/**
 * The failure that an error of undici or Node stands for. `interim`: an interim answer after which undici reads no
 * other answer. undici itself treats a 100 as an error, because the gateway never asks for a 100.
 */
export const failureOf = (error: unknown, request: RequestLine, interim?: string): UpstreamFailure => {
  if (error instanceof UpstreamFailure) return error;
  // undici's parser error quotes the answer, and an answer may echo the query.
  if (error instanceof Error && "data" in error) error.data = undefined;
  const kind = kindOf(error);
  const unread = error instanceof SocketError && error.message === "bad response" ? "100" : interim;
  if (kind !== "broken" || unread === undefined) return new UpstreamFailure(kind, request, error);
  return new UpstreamFailure(kind, request, error, `no answer can be read behind an interim one, ${unread}`);
};

const connectionErrors = new WeakMap<Error, "opening" | "open">();

/**
 * Notes an error of a connection that was being opened, or was open. undici reports these errors, its own errors, and
 * errors that a handler throws in the same way; the code does not tell them apart.
 */
export const noteConnectionError = (error: Error, connection: "opening" | "open"): void =>
  void connectionErrors.set(error, connection);

const kindOf = (error: unknown): FailureKind => {
  const connection = connectionErrors.get(error as Error);
  const isOfUndici = error instanceof UndiciError || error instanceof HTTPParserError;
  if (connection === undefined && !isOfUndici) return "fault";
  return kindOfCode[codeOf(error)] ?? (connection === "opening" ? "unreachable" : "broken");
};

const connectionFailed = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED", connectionReset]);

/** True if the connection of a request failed while it was used. */
export const isBrokenConnection = (error: unknown): boolean => connectionFailed.has(codeOf(error));
