import type { IncomingMessage } from "node:http";
import { forwardedHeaders, forwardingNames } from "../upstream/forwarding.ts";
import { isHopByHop, namedInConnection } from "../upstream/hopByHop.ts";

const forwardingLengths = new Set(Array.from(forwardingNames, (name) => name.length));

/** The client's headers as they came, in their order, without those of this connection; then ours. Host is `host` where set, else what the request is for. */
export const requestHeaders = (
  req: IncomingMessage,
  host: string | undefined,
  trusted: (address: string) => boolean,
): string[] => {
  const raw = req.rawHeaders;
  const sent = host ?? req.headers.host;
  const named = namedInConnection(req.headers.connection);
  const headers: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? "";
    if (isHopByHop(name) || isOurs(name) || isHost(name)) continue;
    if (named?.has(name.toLowerCase()) === true) continue;
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
  return headers;
};

const isHost = (name: string): boolean => name.length === 4 && name.toLowerCase() === "host";

/** PHP reads `X_Forwarded_For` as `X-Forwarded-For`, so that one is ours as well. */
const isOurs = (name: string): boolean =>
  forwardingLengths.has(name.length) && forwardingNames.has(name.toLowerCase().replaceAll("_", "-"));
