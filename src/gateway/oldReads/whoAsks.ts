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
export const whoAsks = (
  { method, headers, socket, url = "/" }: IncomingMessage,
  trusted: (address: string) => boolean,
): ReadSender | undefined => {
  if (method !== "GET" || isPersonal(headers)) return undefined;
  const encrypted = "encrypted" in socket;
  const scheme = schemeOf({ remoteAddress: socket.remoteAddress, encrypted, incoming: headers, trusted });
  if (scheme !== "http" && scheme !== "https") return undefined;
  const query = url.slice(pathOf(url).length);
  const { cookie = "", "sec-fetch-site": site, origin, referer } = headers;
  // Legacy takes an empty key of a GET for none.
  const key = query === "" ? "" : keyAlone(query);
  if (key === "" && cookie === "") return { scheme, isSomebody: false };
  if (key === undefined || (key !== "" && !isKey(key))) return undefined;
  const isBrowser = cookie !== "" && (site ?? origin ?? referer) !== undefined;
  return { scheme, isSomebody: true, isBrowser, ...(key !== "" && { key }) };
};

/** Whether other headers change what legacy answers, or to whom; or there is a body. */
const isPersonal = (headers: IncomingHttpHeaders): boolean =>
  headers.authorization !== undefined ||
  headers["x-api-key"] !== undefined ||
  headers.range !== undefined ||
  headers["transfer-encoding"] !== undefined ||
  (headers["content-length"] ?? "0") !== "0";
