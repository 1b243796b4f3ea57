import type { IncomingMessage } from "node:http";
import { headerPlace } from "../http/requestTarget.ts";
import { forwardedHeaders, forwardingNames } from "../upstream/forwarding.ts";
import type { Dispatcher } from "undici";

const forwardingLengths = new Set(Array.from(forwardingNames, (name) => name.length));

/**
 * The headers of a request to the upstream, flat: the client's headers in their order, without those of the connection;
 * then Host, the forwarding headers and `own`. `host` and `own` replace the client's headers of the same name.
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

/** PHP reads `X_Forwarded_For` as `X-Forwarded-For`, so the spelling with underscores is ours as well. */
const isOurs = (name: string): boolean =>
  forwardingLengths.has(name.length) && forwardingNames.has(name.toLowerCase().replaceAll("_", "-"));

/**
 * undici's raw headers as a flat list for `writeHead`, with their case, order and repetitions. It leaves out headers of
 * the connection, and the length of an answer that can have no body (RFC 9110 8.6).
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
    const name = (raw[i] as Buffer).toString("latin1");
    if (isHopByHop(name) || named?.has(name.toLowerCase()) === true) continue;
    if (hasNoLength && name.toLowerCase() === "content-length") continue;
    headers.push(name, (raw[i + 1] as Buffer).toString("latin1"));
  }
  return headers;
};

/** The reason phrase in latin1, for `writeHead`: undici has read it as UTF-8. Control characters become blanks. */
export const reasonBytes = (text: string): string =>
  /^[\t\x20-\x7e]*$/.test(text)
    ? text
    : Buffer.from(text, "utf8")
        .toString("latin1")
        .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, " ");

/** Adds headers to a flat list, except those whose name is already there. `Link` is added if its value is different. */
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

/**
 * Headers for the next hop only (RFC 9110 7.6.1); Expect, which the server has answered itself; and the request's id,
 * which the gateway writes in both directions.
 */
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
  "x-request-id",
]);

const lengths = new Set(Array.from(hopByHop, (name) => name.length));

/** True if a header concerns this connection only; case does not count. */
const isHopByHop = (name: string): boolean => lengths.has(name.length) && hopByHop.has(name.toLowerCase());

/**
 * The headers that `Connection` names, in lower case; `undefined` if it names no header. `Connection: close, X-Secret`
 * -> `x-secret`. Headers that frame the message are left out: a client must not be able to remove them.
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
