import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isKey, keyAlone, pathOf } from "../../catalogue/index.ts";
import { schemeOf } from "../upstream/forwarding.ts";

/** The scheme of a client's request: legacy is told it, and may write addresses by it. */
export type Scheme = "http" | "https";

/**
 * Who asks, over which scheme. `isSomebody`: legacy may show it more, by a key or by a session. Any cookie is a
 * session, and counts as a key that legacy has accepted. `isBrowser`: a browser sent the cookie, whose user may have
 * changed on the website what is read.
 */
export type ReadSender = { scheme: Scheme; isSomebody: boolean; key?: string; isBrowser?: boolean };

/** Who asks legacy's own interface; `undefined`: the request has to pass, whatever its path. */
export const whoAsks = (request: IncomingMessage, trusted: (address: string) => boolean): ReadSender | undefined => {
  const { method, headers, url = "/" } = request;
  const scheme = method === "GET" && !hasBody(headers) ? schemeOfOldRead(request, trusted) : undefined;
  if (scheme === undefined) return undefined;
  const query = url.slice(pathOf(url).length);
  const { cookie = "" } = headers;
  // Legacy takes an empty key of a GET for none.
  const key = query === "" ? "" : keyAlone(query);
  if (key === "" && cookie === "") return { scheme, isSomebody: false };
  if (key === undefined || (key !== "" && !isKey(key))) return undefined;
  return { scheme, isSomebody: true, isBrowser: isOfBrowser(headers), ...(key !== "" && { key }) };
};

/** True for a request with a cookie that a browser sent. */
export const isOfBrowser = ({ cookie = "", "sec-fetch-site": site, origin, referer }: IncomingHttpHeaders): boolean =>
  cookie !== "" && (site ?? origin ?? referer) !== undefined;

/** The scheme of a read. `undefined`: other headers than a cookie may change what legacy answers, or to whom. */
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

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
