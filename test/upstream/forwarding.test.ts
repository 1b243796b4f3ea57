import { expect, test } from "vitest";
import {
  clientAddress,
  trustedProxies,
  type ForwardedRequest,
  forwardedHeaders,
  isLoop,
  pseudonym,
  viaThis,
} from "../../src/upstream/forwarding.ts";
import { isHopByHop, namedInConnection } from "../../src/proxy/headers.ts";

const headersFor = (asker: Partial<ForwardedRequest>): Record<string, string> => {
  const none: ForwardedRequest = {
    remoteAddress: "192.0.2.1",
    encrypted: false,
    host: "a.example",
    incoming: {},
    trusted: () => false,
  };
  const flat = forwardedHeaders({ ...none, ...asker });
  return Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ""]] : [])));
};

test.each([
  { list: ["10.0.0.0/8"], yes: ["10.1.2.3", "::ffff:10.1.2.3"], no: ["11.0.0.1", "", "unknown", "::1"] },
  { list: ["192.0.2.7"], yes: ["192.0.2.7"], no: ["192.0.2.8"] },
  { list: ["::1", "2001:db8::/32"], yes: ["::1", "2001:db8:1::2"], no: ["::2", "2001:db9::1", "127.0.0.1"] },
  { list: ["::ffff:10.0.0.1"], yes: ["10.0.0.1", "::ffff:10.0.0.1"], no: ["10.0.0.2"] },
  { list: ["::ffff:10.0.0.0/104"], yes: ["10.9.9.9"], no: ["11.0.0.1"] },
  { list: [], yes: [], no: ["127.0.0.1", "::1"] },
])("trusted proxies $list", ({ list, yes, no }) => {
  const trusted = trustedProxies(list);
  // Twice, since answers are remembered.
  expect([...yes, ...no, ...yes, ...no].filter((address) => trusted(address))).toEqual([...yes, ...yes]);
});

test.each([
  "",
  "10.0.0.0/33",
  "10.0.0/8",
  "proxy.example",
  "::1/129",
  "10.0.0.1/",
  "::ffff:10.0.0.0/8",
  "1.2.3.4 5.6.7.8",
])("%j is no proxy", (entry) =>
  expect(() => trustedProxies(["::1", entry])).toThrow(`Not an address or a CIDR: ${entry}`),
);

test.each([
  { peer: "192.0.2.1", chain: "6.6.6.6", client: "192.0.2.1" },
  { peer: "10.0.0.1", chain: undefined, client: "10.0.0.1" },
  { peer: "::ffff:10.0.0.1", chain: "6.6.6.6, 192.0.2.9", client: "192.0.2.9" },
  { peer: "10.0.0.1", chain: "192.0.2.9, 10.0.0.2", client: "192.0.2.9" },
  { peer: "10.0.0.1", chain: "10.0.0.3,10.0.0.2", client: "10.0.0.3" },
  { peer: "10.0.0.1", chain: "192.0.2.9, unknown, 10.0.0.2", client: "10.0.0.2" },
  { peer: "10.0.0.1", chain: "[2001:db8::1]:4711", client: "2001:db8::1" },
  { peer: "10.0.0.1", chain: "192.0.2.9:4711", client: "192.0.2.9" },
  { peer: "10.0.0.1", chain: "", client: "10.0.0.1" },
  { peer: undefined, chain: "192.0.2.9", client: "" },
])("$peer after '$chain' is $client", ({ peer, chain, client }) => {
  expect(clientAddress(peer, chain, trustedProxies(["10.0.0.0/8"]))).toBe(client);
});

test.each([
  { title: "IPv4", asker: {}, forwarded: "for=192.0.2.1;host=a.example;proto=http" },
  {
    title: "IPv4 in IPv6",
    asker: { remoteAddress: "::ffff:192.0.2.1" },
    forwarded: "for=192.0.2.1;host=a.example;proto=http",
  },
  {
    title: "IPv6",
    asker: { remoteAddress: "2001:db8::1" },
    forwarded: 'for="[2001:db8::1]";host=a.example;proto=http',
  },
  { title: "a port", asker: { host: "a.example:81" }, forwarded: 'for=192.0.2.1;host="a.example:81";proto=http' },
  {
    title: "quotes",
    asker: { host: 'a";for=x\\' },
    forwarded: String.raw`for=192.0.2.1;host="a\";for=x\\";proto=http`,
  },
  { title: "TLS, no host", asker: { host: undefined, encrypted: true }, forwarded: "for=192.0.2.1;proto=https" },
  { title: "no peer", asker: { remoteAddress: undefined }, forwarded: "for=unknown;host=a.example;proto=http" },
])("Forwarded: $title", ({ asker, forwarded }) => {
  expect(headersFor(asker)["Forwarded"]).toBe(forwarded);
});

const incoming = {
  "x-forwarded-for": "198.51.100.1, 198.51.100.2",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "outer.example",
  forwarded: "for=198.51.100.1",
  via: "1.1 outer",
};

test("a stranger's word is replaced, but for Via", () => {
  expect(headersFor({ incoming })).toEqual({
    Via: `1.1 outer, 1.1 ${pseudonym}`,
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Port": "80",
    "X-Forwarded-Host": "a.example",
    Forwarded: "for=192.0.2.1;host=a.example;proto=http",
  });
});

test("a trusted peer's word is kept and appended to", () => {
  expect(headersFor({ incoming, trusted: () => true })).toEqual({
    Via: `1.1 outer, 1.1 ${pseudonym}`,
    "X-Forwarded-For": "198.51.100.1, 198.51.100.2, 192.0.2.1",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Port": "443",
    "X-Forwarded-Host": "outer.example",
    Forwarded: "for=198.51.100.1, for=192.0.2.1;host=a.example;proto=http",
  });
  const silent = headersFor({ host: "a.example:8080", encrypted: true, trusted: () => true });
  expect(silent).toMatchObject({
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Port": "8080",
  });
  expect(headersFor({ incoming: { "x-forwarded-port": "444" }, trusted: () => true })["X-Forwarded-Port"]).toBe("444");
});

test("a request that has been here is known by its Via", () => {
  expect(pseudonym).toMatch(/^catalog-gateway-[0-9a-f]{8}$/);
  expect(isLoop(viaThis(undefined, "1.0"))).toBe(true);
  expect(isLoop(`1.1 a, ${viaThis("1.0 b")}, 1.1 c`)).toBe(true);
  expect(isLoop("1.1 catalog-gateway-00000000x")).toBe(false);
  expect(isLoop(undefined)).toBe(false);
});

test.each([
  { connection: undefined, names: undefined },
  { connection: "keep-alive", names: undefined },
  { connection: "Close", names: undefined },
  { connection: "Host, content-length", names: undefined },
  { connection: "X-A , close,, x-b", names: ["x-a", "x-b"] },
  { connection: ["x-a", "x-b, x-c"], names: ["x-a", "x-b", "x-c"] },
])("Connection: $connection names $names", ({ connection, names }) => {
  const named = namedInConnection(connection);
  expect(named === undefined ? undefined : [...named]).toEqual(names);
});

test.each([
  { names: ["TE", "te", "Connection", "keep-alive", "Proxy-Authorization", "HTTP2-Settings", "Expect"], hop: true },
  { names: ["Date", "X-Connection", "Content-Length", "Etag", "Age", "Via"], hop: false },
])("$names concern one connection only: $hop", ({ names, hop }) => {
  expect(names.map((name) => isHopByHop(name))).toEqual(names.map(() => hop));
});
