import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";

/** The addresses of a host: those of this machine for `0.0.0.0` and `::`. */
const addressesOf = async (host: string): Promise<string[]> => {
  const name = host.replaceAll(/^\[|\]$/g, "");
  const addresses =
    name === "0.0.0.0" || name === "::"
      ? Object.values(networkInterfaces()).flatMap((ofInterface = []) => ofInterface)
      : await lookup(name, { all: true }).catch(() => []);
  return addresses.map(({ address }) => address);
};

const leadsTo = async (url: string, host: string, port: number): Promise<boolean> => {
  const { protocol, hostname, port: given } = new URL(url);
  if (Number(given || (protocol === "https:" ? 443 : 80)) !== port) return false;
  const [asked, listening] = await Promise.all([addressesOf(hostname), addressesOf(host)]);
  return asked.some((address) => listening.includes(address));
};

/**
 * The settings `..._URL` that lead to the gateway itself: a pair of `...HOST` and `...PORT` makes it listen there. Each
 * comes with its URL and that pair in words.
 */
export const urlsToOwnListeners = async (settings: Readonly<Record<string, unknown>>) => {
  const urls: { name: string; url: string; listener: string }[] = [];
  for (const [name, url] of Object.entries(settings))
    if (name.endsWith("_URL") && typeof url === "string" && url.startsWith("http"))
      for (const [portName, port] of Object.entries(settings)) {
        const hostName = portName.replace(/PORT$/, "HOST");
        const host = settings[hostName];
        if (hostName === portName || typeof port !== "number" || typeof host !== "string") continue;
        if (await leadsTo(url, host, port))
          urls.push({ name, url, listener: `${hostName} ${host}, ${portName} ${port}` });
      }
  return urls;
};
