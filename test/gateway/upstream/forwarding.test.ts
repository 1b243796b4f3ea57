import { clientAddress, trustedProxies } from "../../../src/operation/network/addresses.ts";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import {
  type ForwardedRequest,
  forwardedHeaders,
  isLoop,
  openUntrustedProxies,
  pseudonym,
  subnetOf,
  viaThis,
} from "../../../src/gateway/upstream/forwarding.ts";

const headersFor = (request: Partial<ForwardedRequest>): Record<string, string> => {
  const none: ForwardedRequest = {
    remoteAddress: "192.0.2.1",
    encrypted: false,
    host: "a.example",
    incoming: {},
    trusted: () => false,
  };
  const flat = forwardedHeaders({ ...none, ...request });
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
  ["IPv4", {}, "for=192.0.2.1;host=a.example;proto=http"],
  ["IPv4 in IPv6", { remoteAddress: "::ffff:192.0.2.1" }, "for=192.0.2.1;host=a.example;proto=http"],
  ["IPv6", { remoteAddress: "2001:db8::1" }, 'for="[2001:db8::1]";host=a.example;proto=http'],
  ["a port", { host: "a.example:81" }, 'for=192.0.2.1;host="a.example:81";proto=http'],
  ["quotes", { host: 'a";for=x\\' }, String.raw`for=192.0.2.1;host="a\";for=x\\";proto=http`],
  ["TLS, no host", { host: undefined, encrypted: true }, "for=192.0.2.1;proto=https"],
  ["no peer", { remoteAddress: undefined }, "for=unknown;host=a.example;proto=http"],
])("Forwarded: %s", (_, request, forwarded) => {
  expect(headersFor(request)["Forwarded"]).toBe(forwarded);
});

const incoming = {
  "x-forwarded-for": "198.51.100.1, 198.51.100.2",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "outer.example",
  forwarded: "for=198.51.100.1",
  via: "1.1 outer",
};

const viaPattern = new RegExp(`^1\\.1 outer, 1\\.1 ${pseudonym}-[0-9a-f-]{36}$`);

test("an untrusted client's forwarding headers are replaced, except Via", () => {
  expect(headersFor({ incoming })).toEqual({
    Via: expect.stringMatching(viaPattern),
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Port": "80",
    "X-Forwarded-Host": "a.example",
    Forwarded: "for=192.0.2.1;host=a.example;proto=http",
  });
});

test("a trusted peer's forwarding headers are kept and appended to", () => {
  expect(headersFor({ incoming, trusted: () => true })).toEqual({
    Via: expect.stringMatching(viaPattern),
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

test("a request that has passed through before is recognized by its Via", () => {
  expect(pseudonym).toMatch(/^catalog-gateway-[0-9a-f]{8}$/);
  expect(isLoop(viaThis(undefined, "1.0"))).toBe(true);
  expect(isLoop(`1.1 a, ${viaThis("1.0 b")}, 1.1 c`)).toBe(true);
  expect(isLoop("1.1 catalog-gateway-00000000x")).toBe(false);
  expect(isLoop(undefined)).toBe(false);
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8::1", "2001:db8:0:0::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["1::2:3:4:5:6:7", "1:0:2:3::/64"],
  ["::1:2:3:4:5:192.0.2.1", "0:1:2:3::/64"],
])("%s belongs to %s", (address, subnet) => {
  expect(subnetOf(address)).toBe(subnet);
});

const opened = (...trusted: string[]) => {
  const first: string[] = [];
  const proxies = openUntrustedProxies(trustedProxies(trusted), (address) => first.push(address));
  const note = (remoteAddress: string) => proxies.note({ socket: { remoteAddress } as Socket });
  return { ...proxies, note, first };
};

test("a peer that sends forwarded headers and is not trusted is named once", () => {
  const { note, list, first } = opened("10.0.0.1");
  note("10.0.0.1");
  expect([first, list()]).toEqual([[], []]);
  note("::ffff:10.0.0.2");
  note("10.0.0.3");
  note("10.0.0.3");
  expect(first).toEqual(["10.0.0.2", "10.0.0.3"]);
  expect(list()).toEqual([
    { address: "10.0.0.3", requests: 2 },
    { address: "10.0.0.2", requests: 1 },
  ]);
});

test("no more than 20 subnets are remembered", () => {
  const { note, list, first } = opened();
  for (let i = 0; i < 500; i++) note(`192.0.2.${i % 250}`);
  for (let i = 0; i < 500; i++) note(`2001:db8::${i.toString(16)}`);
  expect([first.length, list().length]).toEqual([20, 20]);
  expect(list()[0]).toEqual({ address: "192.0.2.0", requests: 2 });
});
