import type { IncomingMessage, ServerResponse } from "node:http";
import { exchangeOf, http } from "../../operation/index.ts";
import {
  type Answer,
  gatewayError,
  gatewayErrorFormat,
  isLegacyRead,
  type LegacyWriteKnowledge,
  pathOf,
  type ReadLegacyTarget,
  withoutFormat,
  writeLegacyError,
} from "../../catalogue/index.ts";
import { contentHeaders } from "../cache/reply.ts";
import { corsList, legacyCorsList } from "./cors.ts";
import type { ErrorFormats } from "./problemDetails.ts";
import { hasBody, isBelow, isBelowAny } from "./requestTarget.ts";

// All errors that the gateway itself writes: those that come neither from an endpoint nor from a legacy server.

/** The requests that may be sent again: all, since nothing was done; only reads; or none, since it would not help. */
type MayRepeat = "always" | "reads" | "never";

/** An error that the gateway itself writes. */
export type OwnError = {
  status: number;
  detail: string;
  /** By default it follows from the status. */
  mayRepeat?: MayRepeat;
  /** Seconds after which the client may try again. */
  retryAfter?: number | undefined;
  /** Legacy's `additional_information`. Outside of legacy's interface an error with it is text: people read it. */
  additional?: string;
  /** More headers, flat. */
  headers?: readonly string[];
};

/** The parts of a request that decide how its error is written. `isProxied`: the router has left it to legacy. */
type ErrorRequest = {
  method: string | undefined;
  target: string;
  accept?: string | undefined;
  origin?: string | undefined;
  isProxied: boolean;
};

/** A whole answer, its headers flat. */
type OwnReply = { status: number; headers: string[]; body: Buffer | undefined };

/** The writer of a server's own errors. */
export type OwnErrors = ReturnType<typeof openOwnErrors>;

/** The flat headers of a whole answer that no cache may store. `length`: bytes of its body. */
export const unstoredHeaders = (type: string, length: number): string[] => [
  ...contentHeaders(type, undefined, length),
  "Cache-Control",
  "no-store",
];

const PLAIN = "application/json";

/** The body of an error if nothing is known about the request: `{"detail": ...}`. */
const detailBody = ({ detail }: OwnError): string => JSON.stringify({ detail });

const headersOf = ({ retryAfter, headers = [] }: OwnError, type: string, length: number): string[] => [
  ...unstoredHeaders(type, length),
  ...(retryAfter === undefined ? [] : ["Retry-After", String(retryAfter)]),
  ...headers,
];

/** The answer that does not depend on a request: the request was not read, or its server has no writer of errors. */
export const plainReply = (error: OwnError): OwnReply & { body: Buffer } => {
  const body = Buffer.from(detailBody(error));
  return { status: error.status, headers: headersOf(error, PLAIN, body.length), body };
};

/** Requests with these statuses were refused because there was no room, or by a rate limit. */
const undone: ReadonlySet<number> = new Set([429, 503]);

const mayRepeatBy = (status: number): MayRepeat => (undone.has(status) ? "always" : status === 500 ? "reads" : "never");

/** The default of `Retry-After` for old clients, in seconds. */
const RETRY_AFTER = 5;

type OwnErrorsOptions = {
  prefixes: readonly string[];
  corsOrigins: readonly string[];
  formats: ErrorFormats;
  /** Matches the paths of data files. */
  files: RegExp;
  readTarget: ReadLegacyTarget;
  knowledge: LegacyWriteKnowledge;
};

/**
 * Opens the writer of errors. Below `LEGACY_PATH`, and for data files, an error has legacy's format, and any page may
 * read it. Below a prefix it is `{"detail": ...}`, or a problem if `Accept` prefers that; pages of `CORS_ORIGINS` may
 * read it. Everywhere else it is `{"detail": ...}`, and any page may read it. With the prefix `/`, a request that the
 * router has left to legacy gets the error for everywhere else.
 */
export const openOwnErrors = (options: OwnErrorsOptions) => {
  const { prefixes, corsOrigins, formats, files, readTarget, knowledge } = options;
  const others = prefixes.filter((prefix) => prefix !== "/");

  const legacyAnswer = (
    { method = "GET", target }: Pick<ErrorRequest, "method" | "target">,
    error: OwnError,
  ): (Answer & { type: string; retryAfter: number | undefined }) | undefined => {
    if (others.some((prefix) => isBelow(pathOf(target), prefix))) return undefined;
    const legacy = readTarget(target);
    const format = gatewayErrorFormat({ method, target }, legacy, files);
    if (format === undefined) return undefined;
    const { status, detail, additional, mayRepeat = mayRepeatBy(status) } = error;
    const isRead = legacy !== undefined && isLegacyRead(knowledge, method, withoutFormat(legacy));
    const isWorthIt = mayRepeat === "always" || (mayRepeat === "reads" && isRead);
    const written = { ...gatewayError(status, detail, isWorthIt), ...(additional === undefined ? {} : { additional }) };
    const retryAfter = error.retryAfter ?? (isWorthIt && format !== "none" ? RETRY_AFTER : undefined);
    return { status, ...writeLegacyError(format, written), retryAfter };
  };

  /** The type and the body of an error for other than old clients. */
  const otherAnswer = (error: OwnError, format: ReturnType<ErrorFormats>): { type: string; body: string | Buffer } => {
    const { status, detail, additional } = error;
    if (additional !== undefined) return { type: "text/plain; charset=utf-8", body: `${detail}\n${additional}\n` };
    const body = detailBody(error);
    return format === undefined
      ? { type: PLAIN, body }
      : { type: format.type, body: format.bytes(status, Buffer.from(body)) };
  };

  return {
    /** The whole answer to a request that has met this error. */
    replyTo(request: ErrorRequest, error: OwnError): OwnReply {
      const { method, target, accept, origin, isProxied } = request;
      const path = pathOf(target);
      const legacys = legacyAnswer(request, error);
      const isOurs = legacys === undefined && !isProxied && isBelowAny(path, prefixes);
      const { type, body: text } = legacys ?? otherAnswer(error, isOurs ? formats(accept, path) : undefined);
      const body = Buffer.from(text);
      const retryAfter = legacys?.retryAfter ?? error.retryAfter;
      const shared = isOurs ? ["Vary", "Accept", ...corsList(corsOrigins, origin)] : legacyCorsList;
      const headers = [
        ...headersOf({ ...error, retryAfter, headers: shared }, type, body.length),
        ...(error.headers ?? []),
      ];
      return { status: error.status, headers, body: method === "HEAD" ? undefined : body };
    },
    /** The answer for an old client, if the error is sent in the same way as legacy's answers. */
    answerTo(request: Pick<ErrorRequest, "method" | "target">, error: OwnError): Answer & { type: string } {
      const { status } = error;
      const { type, body, retryAfter } = legacyAnswer(request, error) ?? {
        ...otherAnswer(error, undefined),
        retryAfter: error.retryAfter,
      };
      const headers = retryAfter === undefined ? {} : { headers: { "Retry-After": String(retryAfter) } };
      return { status, type, body, ...headers };
    },
  };
};

/** The key under which the responses of a server have its writer of errors. */
export const ownErrorsKey = Symbol("ownErrors");

/** A response. Responses of other kinds of servers have no writer of errors. */
type OwnResponse = ServerResponse & { [ownErrorsKey]?: OwnErrors | undefined };

/** The answer for an error of the gateway itself, in the format that the client of this response reads. */
export const ownReply = (response: OwnResponse, error: OwnError): OwnReply => {
  const { method, url: target = "/", headers } = response.req;
  const { accept, origin } = headers;
  const { isProxied } = exchangeOf(response);
  return response[ownErrorsKey]?.replyTo({ method, target, accept, origin, isProxied }, error) ?? plainReply(error);
};

/**
 * Sends an answer at once; the rest of the request's body is discarded. `Date` is switched on again: a proxied answer
 * that failed before it was sent may have switched it off.
 */
export const sendReply = (response: ServerResponse, { status, headers, body }: OwnReply): void => {
  response.sendDate = true;
  response.writeHead(status, http.STATUS_CODES[status], headers).end(body);
};

/** Milliseconds after an answer in which the rest of an unread body may come; then the connection is closed. */
const REST_OF_BODY = 500;

/** Bounds the time for the rest of a body that may never come. Call it before the answer is sent. */
export const boundRest = (response: ServerResponse): void => {
  response.once("finish", () => void setTimeout(discard, REST_OF_BODY, response.req).unref());
};

const discard = (request: IncomingMessage): void => {
  if (!request.complete) request.destroy();
};

/** Sends an error of the gateway itself. Call it before any part of another answer has been sent. */
export const sendOwnError = (response: ServerResponse, error: OwnError): void => {
  if (hasBody(response.req)) boundRest(response);
  sendReply(response, ownReply(response, error));
};
