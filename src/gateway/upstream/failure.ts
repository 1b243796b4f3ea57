import { shownTarget, truncate } from "../../operation/index.ts";

/**
 * Every way in which a request to the upstream can fail. `fault`: code of the gateway has thrown,
 * and the cause says what.
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

/** The request, as far as an error may name it. */
export type RequestLine = { method: string; path: string };

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

/**
 * The error of a failed request to the upstream. Its message has the cause's code, the method and the path, not the
 * query, which may hold a key.
 */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
  readonly kind: FailureKind;
  /** The upstream cannot have received any part of the request. */
  isUnsent = false;

  constructor(kind: FailureKind, request: RequestLine, cause?: unknown) {
    super(
      `${sentences[kind]}${codeOf(cause) && ` (${codeOf(cause)})`}: ${request.method} ${withoutQuery(request.path)}`,
      cause === undefined ? undefined : { cause },
    );
    this.kind = kind;
  }
}

/** Characters of a path that a message names. */
const MAX_PATH = 200;

/**
 * The path for a message, without the query and what may be a key: `/data/1?api_key=x` -> `/data/1`; a long one is cut.
 */
export const withoutQuery = (path: string): string =>
  truncate(shownTarget(path.split(/[?#]/, 1)[0] as string), MAX_PATH);

/** Code given to a reset on an established connection, see `upstream.ts`. */
export const connectionReset = "ERR_UPSTREAM_RESET";

const kindOfCode: Record<string, FailureKind> = {
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  ETIMEDOUT: "timeout",
  UND_ERR_ABORTED: "aborted",
  ABORT_ERR: "aborted",
  ECONNREFUSED: "unreachable",
  ECONNRESET: "unreachable", // while connecting; later it is `connectionReset`
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  ENOTFOUND: "unreachable",
  EAI_AGAIN: "unreachable",
  EMFILE: "unreachable",
  ENFILE: "unreachable",
  UND_ERR_CLOSED: "unreachable",
  UND_ERR_DESTROYED: "unreachable",
};

/** The code of undici's or Node's error, empty where there is none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** Any error of undici or Node -> the failure it stands for. */
export const failureOf = (error: unknown, request: RequestLine): UpstreamFailure => {
  if (error instanceof UpstreamFailure) return error;
  // undici's parser error quotes the answer, and an answer may echo the query.
  if (error instanceof Error && "data" in error) error.data = undefined;
  return new UpstreamFailure(kindOf(error), request, error);
};

const kindOf = (error: unknown): FailureKind => {
  const code = codeOf(error);
  const known = kindOfCode[code];
  if (known !== undefined) return known;
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) return "unreachable";
  return isFault(error) ? "fault" : "broken";
};

/** Node's errors of connections and streams; its others are about what code of ours has called. */
const ofConnections = /^ERR_(TLS|SSL|OSSL|SOCKET|STREAM_PREMATURE_CLOSE|STREAM_DESTROYED|UPSTREAM_RESET)/;

/** Errors of the system and of undici have codes; those of its parser have `data` at least. JavaScript's have none. */
const isFault = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== "") return code.startsWith("ERR_") && !ofConnections.test(code);
  return !(error instanceof Error && "data" in error);
};

/** Whether there was no connection to send the request on. */
export const isConnectionFailure = (error: unknown): boolean =>
  error instanceof UpstreamFailure &&
  (error.kind === "unreachable" || codeOf(error.cause) === "UND_ERR_CONNECT_TIMEOUT");

const connectionFailed = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED", connectionReset]);

/** Whether the connection of a request failed while it was used. */
export const isBrokenConnection = (error: unknown): boolean => connectionFailed.has(codeOf(error));
