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
export const isHopByHop = (name: string): boolean => lengths.has(name.length) && hopByHop.has(name.toLowerCase());

/** `Connection: close, X-Secret` -> the headers named, in lower case; undefined where there are none. Framing cannot be named away. */
export const namedInConnection = (connection: string | readonly string[] | undefined): Set<string> | undefined => {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return undefined;
  const names = new Set<string>();
  for (const option of String(connection).split(",")) {
    const name = option.trim().toLowerCase();
    if (name !== "" && name !== "close" && name !== "host" && name !== "content-length") names.add(name);
  }
  return names.size === 0 ? undefined : names;
};
