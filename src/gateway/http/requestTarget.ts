import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";

/**
 * The target of a request, or its refusal. `target` is in origin form (`/path?query`, as it was spelled) or `*`. `host`
 * is the target's authority if it has an authority, else the Host header; `undefined` if the request names no host
 * (HTTP/1.0, an empty Host).
 */
type RequestTarget =
  | { ok: true; target: string; host: string | undefined }
  | { ok: false; status: 400; detail: string };

/** The parts of Node's `IncomingMessage` that name its target. `rawHeaders` shows repeated headers. */
type RequestHead = Pick<IncomingMessage, "method" | "url" | "httpVersion" | "headers" | "rawHeaders">;

const refused = (detail: string): RequestTarget => ({ ok: false, status: 400, detail });

const noTarget = refused("The request target is neither a path nor an http(s) URL with a host.");
const noHost = refused("An HTTP/1.1 request needs a Host header.");
const manyHosts = refused("The request has more than one Host header.");
const badHost = refused("The Host header is not a host name or address with an optional port.");

/**
 * `a.example`, `a.example:80`, `192.0.2.1`, `[2001:db8::1]:80`. It allows less than RFC 3986 3.2.2, but every name that
 * is in use.
 */
const HOST = /^(?:[A-Za-z0-9._~-]{1,255}|\[([0-9A-Fa-f:.]{2,45})\])(?::(\d{0,5}))?$/;

/** True if a text is a valid authority: a name or an address and an optional port, without user information. */
export const isHost = (text: string): boolean => {
  const match = HOST.exec(text);
  if (match === null) return false;
  const [, address, port] = match;
  return (address === undefined || isIPv6(address)) && (port === undefined || Number(port) <= 65_535);
};

/** The last valid Host, which is not checked again: clients send the same Host with every request. */
let lastValid = "";

/**
 * The index of a header's name in a flat list of names and values, at `from` or later; -1 if it is not there. A value
 * that equals the name is not found. Case does not count.
 */
export const headerPlace = (flat: readonly string[], name: string, from = 0): number => {
  for (let at = from; at + 1 < flat.length; at += 2)
    if (flat[at]?.length === name.length && flat[at]?.toLowerCase() === name.toLowerCase()) return at;
  return -1;
};

/** `http://host/path` -> `host` and `/path`; `undefined` if it is not an http(s) URL with a valid authority. */
const readAbsoluteForm = (url: string): { target: string; host: string } | undefined => {
  const match = /^https?:\/\/([^/?#]+)(.*)$/is.exec(url);
  if (match === null) return undefined;
  const [, host = "", rest = ""] = match;
  return isHost(host) ? { host, target: rest.startsWith("/") ? rest : `/${rest}` } : undefined;
};

/**
 * Reads the target of a request (RFC 9112 3.2 and 3.3). Refuses any other form of a target, and a missing, repeated or
 * invalid Host. A refused request must not be forwarded.
 */
export const readRequestTarget = ({
  method,
  url = "",
  httpVersion,
  headers,
  rawHeaders,
}: RequestHead): RequestTarget => {
  const at = headerPlace(rawHeaders, "host");
  if (at !== -1 && headerPlace(rawHeaders, "host", at + 2) !== -1) return manyHosts;
  if (at === -1 && httpVersion !== "1.0") return noHost;
  const host = headers.host === "" ? undefined : headers.host;
  if (host !== undefined && host !== lastValid) {
    if (!isHost(host)) return badHost;
    lastValid = host;
  }
  if (url.startsWith("/") || (url === "*" && method === "OPTIONS")) return { ok: true, target: url, host };
  const absolute = readAbsoluteForm(url);
  return absolute === undefined ? noTarget : { ok: true, ...absolute };
};

/**
 * The answer to a request that has an invalid head or a body without a clear length, or that asks for another protocol.
 */
type HeadRefusal = {
  status: 400 | 501 | 505;
  detail: string;
  /** The request is valid, but the server does not support it: its `Accept` decides the format of the error. */
  isReadable?: true;
};

const coded: HeadRefusal = {
  status: 501,
  isReadable: true,
  detail: "The only transfer coding of a request that is understood is chunked.",
};
const oldCoded: HeadRefusal = { status: 400, detail: "An HTTP/1.0 request cannot have a Transfer-Encoding." };
const tooLong: HeadRefusal = { status: 400, detail: "The Content-Length is larger than can be sent on." };

/** Node's parser takes a request line without a version for HTTP/0.9, and accepts HTTP/2.0 (RFC 9112 2.3). */
const otherVersion: HeadRefusal = {
  status: 505,
  detail: "The only versions of HTTP that are understood are 1.1 and 1.0.",
};

/**
 * An upgrade to HTTP/2 is not refused: RFC 9110 7.8 lets a server ignore it, and the client then continues in HTTP/1.1.
 */
const upgraded: HeadRefusal = { status: 501, isReadable: true, detail: "WebSocket is not supported." };

/**
 * Refuses a WebSocket, and bodies that Node's parser accepts but undici would change: a transfer coding besides chunked
 * (RFC 9112 6.1 and 7) and a length beyond 2^53 - 1. `undefined`: the body can be read.
 */
const refuseFraming = ({
  headers,
  httpVersion,
}: Pick<IncomingMessage, "headers" | "httpVersion">): HeadRefusal | undefined => {
  if (headers.upgrade !== undefined && /\bwebsocket\b/i.test(headers.upgrade)) return upgraded;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    if (httpVersion === "1.0") return oldCoded;
    if (coding.trim().toLowerCase() !== "chunked") return coded;
  }
  const length = headers["content-length"];
  return length === undefined || Number.isSafeInteger(Number(length)) ? undefined : tooLong;
};

/**
 * Reads the head of a request: its target, and the framing of its body. Writes the target back, so that `url` is in
 * origin form and Host is the target's host. The result is the refusal, if there is one.
 */
export const readHead = (request: IncomingMessage): HeadRefusal | undefined => {
  if (request.httpVersion !== "1.1" && request.httpVersion !== "1.0") return otherVersion;
  const read = readRequestTarget(request);
  if (!read.ok) return read;
  request.url = read.target;
  if (request.headers.host !== read.host) setHost(request, read.host);
  return refuseFraming(request);
};

/** Sets the Host. The list of headers keeps its length: Node reads as many headers as it has counted before. */
const setHost = ({ headers, rawHeaders }: IncomingMessage, host: string | undefined): void => {
  const at = headerPlace(rawHeaders, "host");
  if (at !== -1) rawHeaders[at + 1] = host ?? "";
  if (host === undefined) delete headers.host;
  else headers.host = host;
};

/** The origin form of a URL from a log; the URL may have user information. Other texts stay as they are. */
export const originForm = (url: string): string =>
  url.startsWith("/") ? url : (readAbsoluteForm(url.replace(/^(https?:\/\/)[^/?#@]*@/i, "$1"))?.target ?? url);

/** True if a path is below a prefix: `/v1` and `/v1/x` are below `/v1`, `/v1x` is not. */
export const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 47);

/** True if a path is below one of these prefixes; all paths are below `/`. */
export const isBelowAny = (path: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => prefix === "/" || isBelow(path, prefix));

/** True if a request has a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean => {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
};
