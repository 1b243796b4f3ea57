import { startSampleLegacy } from "../src/tools/sampleLegacy/startSampleLegacy.ts";
import type { Fault } from "../test/standIn/faults.ts";
import { openClients } from "./clients.ts";
import { startGateway } from "./gateway.ts";
import { start, stopAll } from "./processes.ts";
import type { BenchOptions } from "./race.ts";
import { median, percentile } from "./statistics.ts";

const CLIENTS = 8;
const REQUESTS = 1500;
const paths = [1, 2, 3, 5, 61].map((id) => `/v1/datasets/${id}`);

type Case = { name: string; faults?: Fault[]; dead?: true; stage: "legacy" | "shadow" };

/** Two runs without a mirror show the variation between equal runs. */
const cases: Case[] = [
  { name: "no mirror (A)", stage: "legacy" },
  { name: "no mirror (A again)", stage: "legacy" },
  { name: "modern is sound", stage: "shadow" },
  { name: "modern is dead", stage: "shadow", dead: true },
  { name: "modern drips", stage: "shadow", faults: [{ endpoint: "*", fault: "dripping" }] },
  { name: "modern lies", stage: "shadow", faults: [{ endpoint: "*", fault: "wrongType" }] },
];

/** Measures the cost of a mirror for callers, with a modern that is correct, down, slow or wrong: p50 and p99, as ratios to no mirror. */
export const benchMirror = async ({ rounds }: BenchOptions): Promise<void> => {
  const legacy = await startSampleLegacy();
  const running = await Promise.all(
    cases.map(async ({ name, faults = [], dead, stage }) => {
      const modern = dead ? "http://127.0.0.1:9" : await startModern(legacy.url, faults);
      const stages = JSON.stringify({ getDataset: { stage } });
      const gateway = await startGateway(undefined, legacy.url, {
        MODERN_URL: modern,
        STAGES: stages,
        CACHE_BYTES: "0",
      });
      return { name, clients: openClients(gateway.url, CLIENTS), p50: [] as number[], p99: [] as number[] };
    }),
  );
  for (let round = 0; round <= rounds; round++)
    for (const { clients, p50, p99 } of running) {
      const took: number[] = [];
      await clients.run(REQUESTS, async (i) => {
        const started = performance.now();
        const status = await clients.ask(paths[i % paths.length] as string);
        took.push(performance.now() - started);
        if (status !== 200) throw new Error(`status ${status}`);
      });
      // The first round warms up.
      if (round === 0) continue;
      p50.push(percentile(took, 0.5));
      p99.push(percentile(took, 0.99));
    }
  const [base] = running;
  if (base === undefined) return;
  const spread = Math.max(...base.p99) / Math.min(...base.p99);
  console.log(
    `mirror: ${CLIENTS} clients, ${REQUESTS} requests a round, ${rounds} rounds, no cache; p99 of one and the same case differs by ${spread.toFixed(2)} between rounds`,
  );
  for (const { name, p50, p99, clients } of running) {
    console.log(
      `  ${name.padEnd(22)} p50 ${median(p50).toFixed(2)} ms (${(median(p50) / median(base.p50)).toFixed(2)}), p99 ${median(p99).toFixed(2)} ms (${(median(p99) / median(base.p99)).toFixed(2)})`,
    );
    await clients.close();
  }
  stopAll();
  await legacy.close();
};

const startModern = async (legacy: string, faults: Fault[]): Promise<string> => {
  const { line } = await start(
    undefined,
    [process.execPath, "bench/standIn.ts", legacy, JSON.stringify(faults)],
    /http:\/\/\S+/,
    {},
  );
  return /http:\/\/[^\s,]+/.exec(line)?.[0] ?? "";
};
