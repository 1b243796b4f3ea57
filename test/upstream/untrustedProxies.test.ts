import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { openUntrustedProxies, subnetOf, trustedProxies } from "../../src/upstream/forwarding.ts";

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
