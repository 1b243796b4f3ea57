import { freePort } from "../support/freePort.ts";
import { type Program, startProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { ask, inParallel } from "../torture/lib/client.ts";
import { openCatalogue } from "./diskCatalogue.ts";
import type { Address } from "./diskModel.ts";

const CLIENTS = 16;
/** The share of writes among the requests. At the end all clients write, for so many milliseconds at most. */
const WRITES = 0.02;
const WRITING_MS = 200;

/** A legacy and a gateway with a small memory, which stores on the disk what it has answered. */
export type Life = Awaited<ReturnType<typeof startLife>>;

export const startLife = async (folder = temporaryFolder()) => {
  const port = await freePort();
  const catalogue = openCatalogue(port);
  const settings = {
    LEGACY_URL: `http://127.0.0.1:${port}`,
    CACHE_BYTES: String(16 * 1024 ** 2),
    CACHE_LEGACY: "all",
    DATA_DIR: folder,
    CACHE_DISK_BYTES: String(1024 ** 3),
    TRUSTED_PROXIES: "127.0.0.1",
    LOG_LEVEL: "error",
  };
  const start = (more: Record<string, string> = {}): Promise<Program> => startProgram({ ...settings, ...more });
  return { catalogue, folder, start, closeLegacy: await catalogue.openLegacy(), gateway: await start() };
};

/** An address by a Zipf law with the exponent 0.8. */
const pickFrom = (addresses: readonly Address[]): Address =>
  addresses[Math.floor(addresses.length * Math.random() ** 5)] as Address;

/** Sends requests for this time (ms). Then the signal ends the gateway, while all clients write. */
export const load = async ({ catalogue, gateway }: Life, ms: number, signal: "SIGKILL" | "SIGTERM") => {
  const { port, child, ended } = gateway;
  const wrong: string[] = [];
  let [reads, writes, killedAt] = [0, 0, Number.POSITIVE_INFINITY];
  let isEnding = false;
  const isOver = () => killedAt < performance.now();
  const kill = (): void => {
    killedAt = performance.now();
    child.kill(signal);
  };
  const read = async (): Promise<void> => {
    const address = pickFrom(catalogue.addresses);
    const take = address.reading();
    const answer = await ask(port, address.path, { headers: { "Accept-Encoding": Math.random() < 0.3 ? "br" : "" } });
    reads++;
    const why = answer.status !== 200 && isOver() ? undefined : take(answer);
    if (why !== undefined) wrong.push(`${address.path}: ${why}`);
  };
  const write = async (): Promise<void> => {
    const made = catalogue.randomWrite();
    const { path } = made.request;
    made.begin();
    const { status, body } = await ask(port, path, made.request);
    made.end(status === 200);
    writes++;
    if (status !== 200 && !isOver()) wrong.push(`${path}: ${status} ${body.toString().slice(0, 200)}`);
  };
  const client = async (): Promise<void> => {
    while (!isOver()) await (isEnding || Math.random() < WRITES ? write() : read());
  };
  setTimeout(() => {
    isEnding = true;
    setTimeout(kill, Math.random() * WRITING_MS);
  }, ms);
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await ended;
  return { reads, writes, killedAt, wrong };
};

/**
 * Asks for all addresses that were asked for before, while legacy is dead. `by`: answers that went out until then must
 * be there. `late`: the disk was too slow for them, and had them when they were asked for again.
 */
export const verify = async ({ catalogue, gateway }: Life, by: number) => {
  const known = catalogue.addresses.filter(({ isKnown }) => isKnown);
  const [times, wrong]: [number[], string[]] = [[], []];
  const askAll = async (addresses: readonly Address[]): Promise<Address[]> => {
    const missing: Address[] = [];
    await inParallel(addresses.length, CLIENTS, async (i) => {
      const address = addresses[i] as Address;
      const answer = await ask(gateway.port, address.path);
      times.push(answer.ms);
      const why = address.verify(answer, by);
      if (why === "missing") missing.push(address);
      else if (why !== undefined) wrong.push(`${address.path}: ${why}`);
    });
    return missing;
  };
  const first = await askAll(known);
  const missing = await askAll(first);
  const metrics = (await ask(gateway.adminPort, "/metrics")).body.toString();
  const fromDisk = Number(/disk_cache_calls_total\{call="get",result="hit"\} (\d+)/.exec(metrics)?.[1]);
  return { asked: known.length, fromDisk, times, wrong, late: first.length - missing.length, missing };
};
