import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { randomBytes, randomUUID } from "node:crypto";
import { plainAddress } from "../../operation/index.ts";

/** The input of the forwarding headers. `host` is the client's Host header, `incoming` the request's headers. */
export type ForwardedRequest = {
  remoteAddress: string | undefined;
  encrypted: boolean;
  host: string | undefined;
  httpVersion?: string;
  incoming: IncomingHttpHeaders;
  trusted: (address: string) => boolean;
};

/** The headers that only the gateway may set: those of the client are removed first. */
export const forwardingNames: ReadonlySet<string> = new Set([
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-request-id",
]);

type Forwarding = Pick<ForwardedRequest, "remoteAddress" | "encrypted" | "incoming" | "trusted">;

/** The scheme of a client's request: the scheme that a trusted proxy names, else the scheme of the connection. */
export const schemeOf = (request: Forwarding): string => {
  // Without the header it does not matter if the peer is trusted.
  if (sent(request.incoming, "x-forwarded-proto") === undefined) return schemeFrom(request, false);
  const peer = plainAddress(request.remoteAddress ?? "");
  return schemeFrom(request, peer !== undefined && request.trusted(peer));
};

const schemeFrom = ({ encrypted, incoming }: Forwarding, isTrusted: boolean): string =>
  (isTrusted ? sent(incoming, "x-forwarded-proto") : undefined) ?? (encrypted ? "https" : "http");

/** Via (RFC 9110), Forwarded (RFC 7239) and X-Forwarded-* for a request: a flat list of names and values. */
export const forwardedHeaders = (request: ForwardedRequest): string[] => {
  const { host, incoming } = request;
  const peer = plainAddress(request.remoteAddress ?? "");
  const isTrusted = peer !== undefined && request.trusted(peer);
  const scheme = request.encrypted ? "https" : "http";
  const forwarded = forwardedElement(peer, host, scheme);
  const address = peer ?? "unknown";
  const headers = ["Via", viaThis(incoming.via, request.httpVersion)];

  if (!isTrusted) {
    headers.push("X-Forwarded-For", address, "X-Forwarded-Proto", scheme, "X-Forwarded-Port", portOf(host, scheme));
    if (host !== undefined) headers.push("X-Forwarded-Host", host);
    headers.push("Forwarded", forwarded);
    return headers;
  }

  const proto = schemeFrom(request, isTrusted);
  const hosts = sent(incoming, "x-forwarded-host") ?? host;
  headers.push("X-Forwarded-For", appended(sent(incoming, "x-forwarded-for"), address));
  headers.push("X-Forwarded-Proto", proto);
  headers.push("X-Forwarded-Port", sent(incoming, "x-forwarded-port") ?? portOf(hosts, proto));
  if (hosts !== undefined) headers.push("X-Forwarded-Host", hosts);
  headers.push("Forwarded", appended(sent(incoming, "forwarded"), forwarded));
  return headers;
};

const sent = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return value === undefined || value === "" ? undefined : String(value);
};

const appended = (chain: string | undefined, last: string): string =>
  chain === undefined ? last : `${chain}, ${last}`;

const portOf = (host: string | undefined, scheme: string): string =>
  /:(\d{1,5})$/.exec(host ?? "")?.[1] ?? (scheme === "https" ? "443" : "80");

/** `for=192.0.2.1;host="a.example:80";proto=http`; an IPv6 address stands in brackets and quotes. */
const forwardedElement = (peer: string | undefined, host: string | undefined, scheme: string): string => {
  const node = peer === undefined ? "unknown" : peer.includes(":") ? `"[${peer}]"` : peer;
  return host === undefined ? `for=${node};proto=${scheme}` : `for=${node};host=${token(host)};proto=${scheme}`;
};

/** The last Host and its token: clients send the same Host with every request. */
let last = { host: "", token: "" };

const token = (host: string): string => {
  if (host !== last.host) last = { host, token: tokenOf(host) };
  return last.token;
};

const tokenOf = (text: string): string =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, String.raw`\$&`)}"`;

/** This process's name in Via. Each process has a different name, so that gateways can stand behind each other. */
export const pseudonym = `catalog-gateway-${randomBytes(4).toString("hex")}`;

/**
 * Appends this gateway to an incoming Via; `version` is the request's HTTP version. Each request gets a different name,
 * which no client can guess: the gateway recognizes by it a request that comes back.
 */
export const viaThis = (incoming: string | undefined, version = "1.1"): string => {
  const own = `${version} ${pseudonym}-${randomUUID()}`;
  return incoming === undefined || incoming === "" ? own : `${incoming}, ${own}`;
};

/** True if the `Via` of an incoming request has the name of the request that was sent with the Via `own`. */
export const hasComeBack = (via: string, own: string): boolean => via.includes(own.slice(own.lastIndexOf(" ") + 1));

/** True if a request has been through this process before. */
export const isLoop = (via: string | undefined): boolean => via !== undefined && via.includes(pseudonym);

/** True if the `Via` or `Cache-Status` of an answer says that a gateway of this kind wrote the answer. */
export const isOfGateway = (headers: IncomingHttpHeaders): boolean =>
  [headers.via, headers["cache-status"]].some((names) => names?.toString().includes("catalog-gateway"));

/**
 * The addresses that one caller may have: an IPv4 address itself, or the /64 subnet of an IPv6 address, as
 * `2001:db8:0:1::/64`.
 */
export const subnetOf = (address: string): string => {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const groups = head.split(":");
  // `::` stands for groups of zeros, up to eight groups in all.
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const width = after.length + (after.at(-1)?.includes(".") === true ? 1 : 0);
  if (tail !== undefined) while (groups.length + width < 8) groups.push("0");
  const first = [...groups, ...after].slice(0, 4).map((group) => Number.parseInt(group || "0", 16).toString(16));
  return `${first.join(":")}::/64`;
};

/** A peer that sends forwarded headers and is not trusted. `requests`: those of its subnet since the start. */
type UntrustedProxy = { address: string; requests: number };

/** The peers whose forwarded headers are not trusted: all callers behind such a proxy look like a single caller. */
export type UntrustedProxies = ReturnType<typeof openUntrustedProxies>;

/** Subnets that are remembered. There is a bound because any client may send these headers. */
const MAX_SUBNETS = 20;

/** Opens the list of untrusted proxies. `onFirst` is called once for each subnet. */
export const openUntrustedProxies = (trusted: (address: string) => boolean, onFirst: (address: string) => void) => {
  const proxies = new Map<string, UntrustedProxy>();
  return {
    /** Notes the peer of a request with forwarded headers. */
    note({ socket }: Pick<IncomingMessage, "socket">): void {
      const address = plainAddress(socket.remoteAddress ?? "");
      if (address === undefined || trusted(address)) return;
      const subnet = subnetOf(address);
      const known = proxies.get(subnet);
      if (known !== undefined) known.requests++;
      else if (proxies.size < MAX_SUBNETS) {
        proxies.set(subnet, { address, requests: 1 });
        onFirst(address);
      }
    },
    /** The untrusted proxies, the busiest first. */
    list: (): UntrustedProxy[] => [...proxies.values()].toSorted((a, b) => b.requests - a.requests),
  };
};
