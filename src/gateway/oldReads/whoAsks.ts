import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isKey, keyAlone, pathOf } from "../../catalogue/index.ts";
import { hasBody } from "../http/requestTarget.ts";
import { schemeOf } from "../upstream/forwarding.ts";

/** The scheme of a client's request: the gateway tells it to legacy, which may write addresses by it. */
export type Scheme = "http" | "https";

/**
 * The sender of a read, and its scheme. To a sender with a key or a session, legacy may show more. Any cookie is a
 * session, and counts as a key that legacy has accepted. `browser`: a browser sent the cookie, perhaps with a key; its
 * user may have changed the resource on the website.
 */
export type ReadSender = { scheme: Scheme; who: "nobody" | "key" | "session" | "browser"; key: string | undefined };

/** Identifies the sender of a read of legacy's interface. `undefined`: the request has to be proxied, with any path. */
export const whoAsks = (request: IncomingMessage, trusted: (address: string) => boolean): ReadSender | undefined => {
  const { method, headers, url = "/" } = request;
  const scheme = method === "GET" && !hasBody(request) ? schemeOfOldRead(request, trusted) : undefined;
  if (scheme === undefined) return undefined;
  const query = url.slice(pathOf(url).length);
  // Legacy takes an empty key of a GET for no key.
  const key = query === "" ? "" : keyAlone(query);
  if (key === "") return senderOf(scheme, headers, undefined);
  return key === undefined || !isKey(key) ? undefined : senderOf(scheme, headers, key);
};

/** The sender of a read with this key, or without a key. */
export const senderOf = (
  scheme: Scheme,
  { cookie = "", "sec-fetch-site": site, origin, referer }: IncomingHttpHeaders,
  key: string | undefined,
): ReadSender => {
  const isBrowser = cookie !== "" && (site ?? origin ?? referer) !== undefined;
  const who = isBrowser ? "browser" : key !== undefined ? "key" : cookie !== "" ? "session" : "nobody";
  return { scheme, who, key };
};

/** The scheme of a read. `undefined`: a header other than the cookie may change legacy's answer, or its audience. */
export const schemeOfOldRead = (
  { headers, socket }: IncomingMessage,
  trusted: (address: string) => boolean,
): Scheme | undefined => {
  if (isPersonal(headers)) return undefined;
  const encrypted = "encrypted" in socket;
  const scheme = schemeOf({ remoteAddress: socket.remoteAddress, encrypted, incoming: headers, trusted });
  return scheme === "http" || scheme === "https" ? scheme : undefined;
};

const isPersonal = (headers: IncomingHttpHeaders): boolean =>
  headers.authorization !== undefined || headers["x-api-key"] !== undefined || headers.range !== undefined;
