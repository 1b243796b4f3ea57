import type { IncomingMessage } from "node:http";
import { headerPlace } from "../http/requestTarget.ts";
import { forwardedHeaders, forwardingNames } from "../upstream/forwarding.ts";
import type { Dispatcher } from "undici";

const forwardingLengths = new Set(Array.from(forwardingNames, (name) => name.length));

/**
 * The client's headers in their order, without those of its connection; then Host, the forwarding headers and `own`,
 * flat. `host` replaces the client's Host, `own` its headers of these names.
 */
export const requestHeaders = (
  req: IncomingMessage,
  host: string | undefined,
  trusted: (address: string) => boolean,
  own: readonly string[] = [],
): string[] => {
  const raw = req.rawHeaders;
  const sent = host ?? req.headers.host;
  const named = namedInConnection(req.headers.connection);
  const headers: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? "";
    if (isHopByHop(name) || isOurs(name) || isHost(name)) continue;
    if (named?.has(name.toLowerCase()) === true || headerPlace(own, name) !== -1) continue;
    headers.push(name, raw[i + 1] ?? "");
  }
  if (sent !== undefined) headers.push("Host", sent);
  const ours = forwardedHeaders({
    remoteAddress: req.socket.remoteAddress,
    encrypted: "encrypted" in req.socket,
    host: req.headers.host,
    httpVersion: req.httpVersion,
    incoming: req.headers,
    trusted,
  });
  for (const text of ours) headers.push(text);
  for (const text of own) headers.push(text);
  return headers;
};

const isHost = (name: string): boolean => name.length === 4 && name.toLowerCase() === "host";

/** PHP reads `X_Forwarded_For` as `X-Forwarded-For`, so that one is ours as well. */
const isOurs = (name: string): boolean =>
  forwardingLengths.has(name.length) && forwardingNames.has(name.toLowerCase().replaceAll("_", "-"));

/**
 * undici's raw headers as a flat list for `writeHead`: case, order and repetitions stay, the connection's own go. So
 * does `X-Request-Id`, in whose place the server writes the one that was sent to the upstream. So does the length of
 * what can have no body (RFC 9110 8.6).
 */
export const replyHeaders = (
  raw: Dispatcher.DispatchController["rawHeaders"],
  connection: string | readonly string[] | undefined,
  status: number,
): string[] => {
  const named = namedInConnection(connection);
  const hasNoLength = status < 200 || status === 204;
  const headers: string[] = [];
  if (!Array.isArray(raw)) return headers; // never with HTTP/1.1
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = latin1(raw[i]);
    if (isHopByHop(name) || isRequestId(name) || named?.has(name.toLowerCase()) === true) continue;
    if (hasNoLength && name.toLowerCase() === "content-length") continue;
    headers.push(name, latin1(raw[i + 1]));
  }
  return headers;
};

const isRequestId = (name: string): boolean => name.length === 12 && name.toLowerCase() === "x-request-id";

const latin1 = (text: Buffer | string | undefined): string =>
  typeof text === "object" ? text.toString("latin1") : (text ?? "");

/** The reason phrase as bytes in latin1, for `writeHead`: undici read it as UTF-8. Control characters become blanks. */
export const reasonBytes = (text: string): string =>
  /^[\t\x20-\x7e]*$/.test(text)
    ? text
    : Buffer.from(text, "utf8")
        .toString("latin1")
        .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, " ");

/** Adds headers to a flat list. A name that is there already is not added again, but `Link` with another value is. */
export const addHeaders = (headers: string[], more: readonly string[]): void => {
  const before = headers.length;
  for (let i = 0; i + 1 < more.length; i += 2) {
    const [name = "", value = ""] = [more[i], more[i + 1]];
    if (!isThere(headers, before, name.toLowerCase(), value)) headers.push(name, value);
  }
};

const isThere = (headers: readonly string[], before: number, name: string, value: string): boolean => {
  for (let i = 0; i + 1 < before; i += 2)
    if (headers[i]?.toLowerCase() === name && (name !== "link" || headers[i + 1] === value)) return true;
  return false;
};

/** Headers that speak to the next hop only (RFC 9110 7.6.1), and Expect, which the server has answered itself. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
  "expect",
]);

const lengths = new Set(Array.from(hopByHop, (name) => name.length));

/** Whether a header, in whatever case, concerns this connection only. */
const isHopByHop = (name: string): boolean => lengths.has(name.length) && hopByHop.has(name.toLowerCase());

/**
 * `Connection: close, X-Secret` -> the headers named, in lower case; undefined where there are none.
 * Framing cannot be named away.
 */
const namedInConnection = (connection: string | readonly string[] | undefined): Set<string> | undefined => {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return undefined;
  const names = new Set<string>();
  for (const option of String(connection).split(",")) {
    const name = option.trim().toLowerCase();
    if (name !== "" && name !== "close" && name !== "host" && name !== "content-length") names.add(name);
  }
  return names.size === 0 ? undefined : names;
};
