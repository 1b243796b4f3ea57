import { BlockList, isIP, isIPv4 } from "node:net";

/**
 * `::ffff:192.0.2.1` -> `192.0.2.1`, `[2001:db8::1]:80` -> `2001:db8::1`, `192.0.2.1:80` -> `192.0.2.1`;
 * `undefined` for any other text.
 */
export const plainAddress = (text: string): string | undefined => {
  if (text !== last.text) last = { text, address: addressIn(text) };
  return last.address;
};

/** The last text: all requests of a connection, or behind the same proxy, have the same text. */
let last: { text: string; address: string | undefined } = { text: "", address: undefined };

const addressIn = (text: string): string | undefined => {
  let address = text;
  if (address.startsWith("[")) address = address.slice(1, Math.max(1, address.indexOf("]")));
  else if (address.includes(".") && address.lastIndexOf(":") > address.indexOf("."))
    address = address.slice(0, address.lastIndexOf(":"));
  const zone = address.indexOf("%");
  if (zone !== -1) address = address.slice(0, zone);
  if (address.length > 7 && address.slice(0, 7).toLowerCase() === "::ffff:" && isIPv4(address.slice(7)))
    return address.slice(7);
  return isIP(address) === 0 ? undefined : address;
};

/** The number of addresses whose result is remembered: a scan through the address space must cost no memory. */
const MAX_KNOWN = 1000;

/**
 * Returns a function that is true if an address is among these addresses and CIDRs (`10.0.0.0/8`, `::1`).
 *
 * @throws An Error that names a bad entry.
 */
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
      if (known.size >= MAX_KNOWN) known.clear();
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

/**
 * The client's address: the right-most of X-Forwarded-For and the peer that is not a trusted proxy, else the left-most.
 */
export const clientAddress = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: (address: string) => boolean,
): string => {
  let client = plainAddress(peer ?? "") ?? "";
  if (forwardedFor === undefined || !trusted(client)) return client;
  const chain = forwardedFor.split(",");
  for (let i = chain.length - 1; i >= 0; i--) {
    const address = plainAddress((chain[i] ?? "").trim());
    // Addresses to the left of an invalid address cannot be trusted.
    if (address === undefined) return client;
    client = address;
    if (!trusted(client)) return client;
  }
  return client;
};
