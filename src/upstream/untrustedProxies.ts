import type { IncomingMessage } from "node:http";
import { plainAddress } from "./forwarding.ts";
import { subnetOf } from "./subnet.ts";

/** A peer that sends forwarded headers and is not trusted. `requests`: how many, of its subnet, since the start. */
export type UntrustedProxy = { address: string; requests: number };

/** Remembers the peers whose forwarded headers are not believed: behind such a proxy all callers look like one. */
export type UntrustedProxies = {
  note: (request: Pick<IncomingMessage, "headers" | "socket">) => void;
  /** The busiest first. */
  list: () => UntrustedProxy[];
};

/** Subnets that are remembered: anybody may send these headers. */
const MAX_SUBNETS = 20;

/** `onFirst` is called once for each subnet. */
export const openUntrustedProxies = (
  trusted: (address: string) => boolean,
  onFirst: (address: string) => void,
): UntrustedProxies => {
  const proxies = new Map<string, UntrustedProxy>();
  return {
    note({ headers, socket }) {
      if (headers["x-forwarded-for"] === undefined && headers.forwarded === undefined) return;
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
    list: () => [...proxies.values()].toSorted((a, b) => b.requests - a.requests),
  };
};
