import { BlockList, isIP, isIPv4 } from "node:net";
import { hostname, networkInterfaces } from "node:os";

/** Where the gateway listens: the value of `HOST` or another such setting, and the port (0: not known yet). */
type Listener = { host: string; port: number };

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** An address without brackets, and an IPv4 address that is written as IPv6 (`::ffff:7f00:1`) as IPv4. */
const plain = (host: string): string => {
  const address = host.replace(/^\[|\]$/g, "").toLowerCase();
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return address.replace(/^::ffff:(?=\d+\.)/, "");
  const bits = [high, low].map((part) => Number.parseInt(part, 16));
  return bits.flatMap((part) => [part >> 8, part & 255]).join(".");
};

const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";
const isLoopback = (host: string): boolean => isIP(host) !== 0 && loopback.check(host, isIPv4(host) ? "ipv4" : "ipv6");

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));

/** The addresses that a connection to a host may reach, as far as they are known without a name server. */
const addressesOf = (host: string): string[] => {
  if (host === "localhost" || isWildcard(host)) return ["127.0.0.1", "::1"];
  return host === hostname().toLowerCase() ? ownAddresses() : [host];
};

/**
 * Whether a URL leads to this listener: by its address, `localhost`, the machine's name or the address of an interface. Other names
 * are not resolved; a request that comes back through one of them is found by its `Via`.
 */
const leadsToListener = (url: string, { host, port }: Listener): boolean => {
  const { protocol, hostname: named, port: given } = new URL(url);
  if (port === 0 || Number(given || (protocol === "https:" ? 443 : 80)) !== port) return false;
  const on = plain(host);
  const isOn = isWildcard(on)
    ? (address: string) => isLoopback(address) || ownAddresses().includes(address)
    : (address: string) => addressesOf(on).includes(address);
  return addressesOf(plain(named)).some(isOn);
};

/** What is wrong where a setting `..._URL` leads to an address that a pair of `...HOST` and `...PORT` makes the gateway listen on. */
export const ownAddressErrors = (settings: Readonly<Record<string, unknown>>): string[] => {
  const listeners = Object.entries(settings).flatMap(([name, port]) => {
    const hostName = name.replace(/PORT$/, "HOST");
    const host = settings[hostName];
    return hostName !== name && typeof port === "number" && typeof host === "string"
      ? [{ host, port, names: `${hostName} ${host}, ${name} ${port}` }]
      : [];
  });
  return Object.entries(settings).flatMap(([name, url]) => {
    if (!name.endsWith("_URL") || typeof url !== "string" || !/^https?:/.test(url)) return [];
    const own = listeners.find((listener) => leadsToListener(url, listener));
    return own === undefined
      ? []
      : [
          `${name}: ${JSON.stringify(url)} given, where the gateway itself listens (${own.names}); allowed is another server`,
        ];
  });
};
