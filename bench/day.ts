import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { datasetBody } from "./bodies.ts";
import { residentMegabytes, start, stopAll } from "./processes.ts";

const address = /http:\/\/127\.0\.0\.1:\d+/;
const BOUND = 64;

/** A gateway over a legacy of any size, asked over kept connections. */
const open = async (stub: Record<string, string>, { connections = 64, bytes = BOUND * 1024 ** 2 } = {}) => {
  const body = join(mkdtempSync(join(tmpdir(), "bench-day-")), "body");
  writeFileSync(body, datasetBody());
  const legacy = await start(1, [process.execPath, "bench/peers/legacyStub.js"], address, { BODY: body, ...stub });
  const env = {
    LEGACY_URL: legacy.line,
    PORT: "0",
    ADMIN_PORT: "0",
    LOG_LEVEL: "error",
    CACHE_BYTES: String(bytes),
  };
  const gateway = await start(0, [process.execPath, "src/main.ts"], /listens on (\S+),.*operators: \S+/, env);
  const [url = "", admin = ""] = gateway.line.match(/http:\/\/[\d.:]+/g)?.filter((one) => one !== legacy.line) ?? [];
  const pool = new Pool(url, { connections, pipelining: 1 });
  const asked = async () => Number(await (await fetch(`${legacy.line}/asked`)).text());
  const kept = async () =>
    (await (await fetch(`${admin}/cache`)).json()) as { bytes: number; entries: number; evicted: number };
  /** The status, and whether it came from what is kept. */
  const ask = async (path: string) => {
    const { statusCode, headers, body: rest } = await pool.request({ method: "GET", path });
    await rest.dump({ limit: Infinity });
    return { status: statusCode, isHit: String(headers["cache-status"]).includes("; hit") };
  };
  return { ask, asked, kept, pid: gateway.child.pid as number, close: () => pool.destroy() };
};

/** Numbers from 0 to 1, the same at every run. */
const pseudoRandom = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

/** Runs so many askings, 64 at a time. */
const run = async (count: number, one: (i: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const work = async () => {
    for (let i = next++; i < count; i = next++) {
      if (process.stdout.isTTY && i % 1000 === 0) process.stdout.write(`\r${i} of ${count}`);
      await one(i);
    }
  };
  await Promise.all(Array.from({ length: 64 }, work));
  if (process.stdout.isTTY) process.stdout.write("\r");
};

/** A day of traffic as it usually is: few things are asked for often, many rarely. */
const zipfDay = async (distinct: number, requests: number): Promise<void> => {
  const day = await open({});
  const weights = Array.from({ length: distinct }, (_, i) => 1 / (i + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  const bounds = weights.map((weight) => (sum += weight / total));
  const random = pseudoRandom(7);
  const rankAt = (value: number) => {
    let [low, high] = [0, distinct - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bounds[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const ranks = Array.from({ length: requests }, () => rankAt(random()));
  // One in twenty is a page of a list.
  const pathOf = (rank: number) =>
    rank % 20 === 19 ? `/v1/data/list/limit/20/offset/${rank}` : `/v1/datasets/${rank + 1}`;
  let hits = 0;
  await run(requests, async (i) => {
    const { status, isHit } = await day.ask(pathOf(ranks[i] as number));
    if (status !== 200) throw new Error(`${pathOf(ranks[i] as number)} answered ${status}`);
    if (isHit) hits++;
  });
  const best = requests - new Set(ranks).size;
  const { bytes, entries, evicted } = await day.kept();
  console.log(`a day of ${requests} requests, ${distinct} distinct, Zipf, ${BOUND} MiB`);
  console.log(
    `  hit ratio ${(hits / requests).toFixed(4)}, ${(hits / best).toFixed(4)} of what a cache without a bound would hit`,
  );
  console.log(`  ${await day.asked()} upstream calls; ${entries} entries, ${megabytes(bytes)}, ${evicted} evicted`);
  await day.close();
  stopAll();
};

const herd = async (callers: number): Promise<void> => {
  const day = await open({ DELAY: "300" }, { connections: callers });
  const before = await day.asked();
  const answers = await Promise.all(Array.from({ length: callers }, () => fetchApart(day)));
  const calls = (await day.asked()) - before;
  console.log(
    `${callers} concurrent misses of one key: ${calls} upstream call${calls === 1 ? "" : "s"} (aim: 1), ${answers.filter((status) => status === 200).length} answered 200`,
  );
  await day.close();
  stopAll();
};

const fetchApart = async ({ ask }: Awaited<ReturnType<typeof open>>): Promise<number> =>
  (await ask("/v1/datasets/301")).status;

/** Every request another one, half of them for what is there; how much memory that leaves behind, in MB. */
const flooded = async (requests: number, bytes: number) => {
  const day = await open({ MOST: String(requests / 2) }, { bytes });
  await day.ask("/v1/datasets/1");
  const before = residentMegabytes(day.pid);
  await run(requests, async (i) => void (await day.ask(`/v1/datasets/${i + 1}`)));
  const grown = residentMegabytes(day.pid) - before;
  const kept = await day.kept();
  await day.close();
  stopAll();
  return { grown, kept };
};

const flood = async (requests: number): Promise<void> => {
  const bound = BOUND * 1024 ** 2;
  const { grown, kept } = await flooded(requests, bound);
  // A Node that works hard takes memory whatever it keeps: the peer is the same gateway that keeps nothing.
  const without = await flooded(requests / 5, 0);
  console.log(
    `${requests} distinct requests, ${BOUND} MiB: ${kept.entries} entries, ${megabytes(kept.bytes)} by its own count, ${kept.evicted} evicted`,
  );
  console.log(
    `  ${grown.toFixed(0)} MB more than after the first request; ${without.grown.toFixed(0)} MB where nothing is kept`,
  );
  console.log(
    `  so the cache takes ${(grown - without.grown).toFixed(0)} MB (aim: at most its bound and 60 MB, ${(bound / 1e6 + 60).toFixed(0)} MB)`,
  );
};

const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

/** What the cache is for, over a whole gateway: a day's traffic, a herd, and a flood that nothing is asked for twice in. */
export const benchDay = async (): Promise<void> => {
  await zipfDay(10_000, 200_000);
  await herd(1000);
  await flood(1_000_000);
};
