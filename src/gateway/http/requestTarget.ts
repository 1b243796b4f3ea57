import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";

/**
 * What a request is for, or how it is refused. `target` is in origin form (`/path?query`, as it was spelled) or `*`.
 * `host` is the target's authority where it names one, else the Host header; `undefined` where the request names none
 * (HTTP/1.0, an empty Host).
 */
type RequestTarget =
  | { ok: true; target: string; host: string | undefined }
  | { ok: false; status: 400; detail: string };

/** The parts of node's `IncomingMessage` that name its target. `rawHeaders` shows repeated headers. */
type RequestHead = Pick<IncomingMessage, "method" | "url" | "httpVersion" | "headers" | "rawHeaders">;

const refused = (detail: string): RequestTarget => ({ ok: false, status: 400, detail });

const noTarget = refused("The request target is neither a path nor an http(s) URL with a host.");
const noHost = refused("An HTTP/1.1 request needs a Host header.");
const manyHosts = refused("The request has more than one Host header.");
const badHost = refused("The Host header is not a host name or address with an optional port.");

/**
 * `a.example`, `a.example:80`, `192.0.2.1`, `[2001:db8::1]:80`; narrower than RFC 3986 3.2.2, wide
 * enough for every real name.
 */
const HOST = /^(?:[A-Za-z0-9._~-]{1,255}|\[([0-9A-Fa-f:.]{2,45})\])(?::(\d{0,5}))?$/;

/** Whether a text can stand as an authority: a name or an address and an optional port, without user information. */
export const isHost = (text: string): boolean => {
  const match = HOST.exec(text);
  if (match === null) return false;
  const [, address, port] = match;
  return (address === undefined || isIPv6(address)) && (port === undefined || Number(port) <= 65_535);
};

/** Clients repeat their Host from request to request: the last one that was valid is not checked again. */
let lastValid = "";

/**
 * The place of a header's name in a flat list of names and values, from the place `from` on; -1 where it is not there.
 * A value that reads like the name is not found. Case does not count.
 */
export const headerPlace = (flat: readonly string[], name: string, from = 0): number => {
  for (let at = from; at + 1 < flat.length; at += 2)
    if (flat[at]?.length === name.length && flat[at]?.toLowerCase() === name.toLowerCase()) return at;
  return -1;
};

/** `http://host/path` -> `host` and `/path`; `undefined` where it is no http(s) URL with a valid authority. */
const readAbsoluteForm = (url: string): { target: string; host: string } | undefined => {
  const match = /^https?:\/\/([^/?#]+)(.*)$/is.exec(url);
  if (match === null) return undefined;
  const [, host = "", rest = ""] = match;
  return isHost(host) ? { host, target: rest.startsWith("/") ? rest : `/${rest}` } : undefined;
};

/**
 * Reads what a request is for (RFC 9112 3.2 and 3.3). Refuses every other form of a target, and a missing, repeated or
 * invalid Host; a refused request must not be sent on.
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
 * The answer to a request whose head is not sound, whose body has no clear length, or that asks for another protocol.
 */
type HeadRefusal = {
  status: 400 | 501 | 505;
  detail: string;
  /** The request can be read, and asks for more than the server does: it says how it wants errors. */
  isReadable?: true;
};

const coded: HeadRefusal = {
  status: 501,
  isReadable: true,
  detail: "The only transfer coding of a request that is understood is chunked.",
};
const oldCoded: HeadRefusal = { status: 400, detail: "An HTTP/1.0 request cannot have a Transfer-Encoding." };
const tooLong: HeadRefusal = { status: 400, detail: "The Content-Length is larger than can be sent on." };

/** Node's parser takes a request line without a version for HTTP/0.9, and lets HTTP/2.0 pass (RFC 9112 2.3). */
const otherVersion: HeadRefusal = {
  status: 505,
  detail: "The only versions of HTTP that are understood are 1.1 and 1.0.",
};

/**
 * Upgrades to HTTP/2 are not refused: RFC 9110 7.8 lets a server ignore them, and the client then goes on in HTTP/1.1.
 */
const upgraded: HeadRefusal = { status: 501, isReadable: true, detail: "WebSocket is not supported." };

/**
 * Refuses a WebSocket, and bodies that Node's parser accepts and undici would send on changed: a transfer coding beside
 * chunked (RFC 9112 6.1 and 7) and a length beyond 2^53 - 1. `undefined`: the body can be read.
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
 * Reads the head of a request: what it is for, and whether its body can be read. What it is for is written back: `url`
 * and Host then say it in one form only. The result is the refusal.
 */
export const readHead = (request: IncomingMessage): HeadRefusal | undefined => {
  if (request.httpVersion !== "1.1" && request.httpVersion !== "1.0") return otherVersion;
  const read = readRequestTarget(request);
  if (!read.ok) return read;
  request.url = read.target;
  if (request.headers.host !== read.host) setHost(request, read.host);
  return refuseFraming(request);
};

/** The list keeps its length: Node reads as many headers of it as it has counted. */
const setHost = ({ headers, rawHeaders }: IncomingMessage, host: string | undefined): void => {
  const at = headerPlace(rawHeaders, "host");
  if (at !== -1) rawHeaders[at + 1] = host ?? "";
  if (host === undefined) delete headers.host;
  else headers.host = host;
};

/** The origin form of a URL out of a log, which may name a user; other texts stay as they are. */
export const originForm = (url: string): string =>
  url.startsWith("/") ? url : (readAbsoluteForm(url.replace(/^(https?:\/\/)[^/?#@]*@/i, "$1"))?.target ?? url);

/** Whether a path lies below a prefix; `/v1` covers `/v1` and `/v1/x`, not `/v1x`. */
export const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 47);

/** Whether a path lies below one of these prefixes; all lie below `/`. */
export const isBelowAny = (path: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => prefix === "/" || isBelow(path, prefix));

/** Whether a request has a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean => {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
};
