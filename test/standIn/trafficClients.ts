import { sampleCatalogue } from "../../src/tools/sampleLegacy/catalogue.ts";

/** A caller: an address, an agent, and perhaps a key. */
export type TrafficClient = { client: string; key?: string };

const agents = [
  "python-requests/2.32.3",
  "catalogue-py/0.15.1",
  "catalogue-r/1.14",
  "okhttp/4.12.0",
  "Mozilla/5.0 (X11; Linux x86_64)",
  "curl/8.11.0",
];
/** Networks reserved for documentation (RFC 5737). */
const networks = ["192.0.2", "198.51.100", "203.0.113"];

/** A key that legacy refuses. */
const WRONG_KEY = "5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A";
const keys = [...sampleCatalogue.users.map(({ key }) => key), WRONG_KEY];

const KEYED = 25;

/** The number of distinct callers. */
export const CALLERS = networks.length * 254 * agents.length;

/** The caller of this number, from 0; one of 25 has a key. */
export const trafficClient = (number: number): TrafficClient => {
  const [agent, rest] = [number % agents.length, Math.floor(number / agents.length)];
  const address = `${networks[rest % networks.length]}.${1 + (Math.floor(rest / networks.length) % 254)}`;
  const key = number % KEYED === KEYED - 1 ? keys[Math.floor(number / KEYED) % keys.length] : undefined;
  return { client: `${address} ${agents[agent]}`, ...(key === undefined ? {} : { key }) };
};
