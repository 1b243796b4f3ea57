import type { IncomingHttpHeaders } from "node:http";
import { plainAddress } from "./clientAddress.ts";
import { randomBytes } from "node:crypto";

/** What the forwarding headers are made of. `host` is the client's Host header, `incoming` the request's headers. */
export type ForwardedRequest = {
  remoteAddress: string | undefined;
  encrypted: boolean;
  host: string | undefined;
  httpVersion?: string;
  incoming: IncomingHttpHeaders;
  trusted: (address: string) => boolean;
};

/** The headers that only `forwardedHeaders` may set; a client's are removed first. */
export const forwardingNames: ReadonlySet<string> = new Set([
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
]);

/** Via (RFC 9110), Forwarded (RFC 7239) and X-Forwarded-* for a request: a flat list of names and values. */
export const forwardedHeaders = (request: ForwardedRequest): string[] => {
  const { host, incoming } = request;
  const peer = plainAddress(request.remoteAddress ?? "");
  const believed = peer !== undefined && request.trusted(peer);
  const scheme = request.encrypted ? "https" : "http";
  const forwarded = forwardedElement(peer, host, scheme);
  const address = peer ?? "unknown";
  const headers = ["Via", viaThis(incoming.via, request.httpVersion)];

  if (!believed) {
    headers.push("X-Forwarded-For", address, "X-Forwarded-Proto", scheme, "X-Forwarded-Port", portOf(host, scheme));
    if (host !== undefined) headers.push("X-Forwarded-Host", host);
    headers.push("Forwarded", forwarded);
    return headers;
  }

  const proto = sent(incoming, "x-forwarded-proto") ?? scheme;
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

const token = (text: string): string =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, String.raw`\$&`)}"`;

/** This process's name in Via, different in each so that one gateway may stand behind another. */
export const pseudonym = `catalog-gateway-${randomBytes(4).toString("hex")}`;

/** Appends this gateway to an incoming Via; `version` is the request's HTTP version. */
export const viaThis = (incoming: string | undefined, version = "1.1"): string =>
  incoming === undefined || incoming === "" ? `${version} ${pseudonym}` : `${incoming}, ${version} ${pseudonym}`;

/** Whether a request has been through this process before. */
export const isLoop = (via: string | undefined): boolean => via !== undefined && via.includes(pseudonym);
