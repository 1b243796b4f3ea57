import { BlockList, isIP } from "node:net";
import { plainAddress } from "./plainAddress.ts";

/** Addresses remembered at most, so that a scan through address space costs no memory. */
const remembered = 1000;

/** Addresses and CIDRs (`10.0.0.0/8`, `::1`, `::ffff:10.0.0.1`) -> whether an address is among them. A bad entry throws with its text. */
export const trustedProxies = (list: readonly string[]): ((address: string) => boolean) => {
  if (list.length === 0) return () => false;
  const proxies = new BlockList();
  for (const entry of list) add(proxies, entry);

  const known = new Map<string, boolean>();
  return (address) => {
    let trusted = known.get(address);
    if (trusted === undefined) {
      const plain = plainAddress(address);
      trusted = plain !== undefined && proxies.check(plain, isIP(plain) === 4 ? "ipv4" : "ipv6");
      if (known.size >= remembered) known.clear();
      known.set(address, trusted);
    }
    return trusted;
  };
};

const add = (proxies: BlockList, entry: string): void => {
  const [, address = "", prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry.trim()) ?? [];
  const family = isIP(address);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const bits = Number(prefix ?? (family === 4 ? 32 : 128));
  if (family === 0 || bits > (family === 4 ? 32 : 128)) throw new Error(`Not an address or a CIDR: ${entry}`);
  if (mapped === undefined) proxies.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6");
  else if (bits >= 96) proxies.addSubnet(mapped, bits - 96, "ipv4");
  else throw new Error(`Not an address or a CIDR: ${entry}`);
};
