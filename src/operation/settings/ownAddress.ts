import { BlockList, isIP, isIPv4 } from "node:net";
import { hostname, networkInterfaces } from "node:os";

/** Where the gateway listens: the value of `HOST` or another such setting, and the port (0: not known yet). */
type Listener = { host: string; port: number };

const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";
const familyOf = (address: string) => (isIPv4(address) ? "ipv4" : "ipv6");

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
  const [on = "", to = ""] = [host.toLowerCase(), named].map((one) => one.replace(/^\[|\]$/g, ""));
  const listening = new BlockList();
  if (isWildcard(on)) listening.addSubnet("127.0.0.0", 8);
  for (const address of [...addressesOf(on), ...(isWildcard(on) ? ownAddresses() : [])])
    if (isIP(address) !== 0) listening.addAddress(address, familyOf(address));
  // An IPv4 address that is written as IPv6 (`::ffff:7f00:1`) is found as well.
  return on === to || addressesOf(to).some((one) => isIP(one) !== 0 && listening.check(one, familyOf(one)));
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
