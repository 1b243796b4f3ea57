import { brotliDecompressSync } from "node:zlib";
import { ask, sha256 } from "./ask.ts";
import { load } from "./load.ts";
import type { BenchOptions } from "./options.ts";
import { cpuMicroseconds } from "./processes.ts";
import { watchNeighbours } from "./neighbours.ts";
import { median, shuffled, spread } from "./statistics.ts";

/** Of a core, in one lap: others that take more of it change who is faster. */
const OTHERS = 0.2;
const REPEATS = 30;
const PAUSE = 2000;

export type Contender = {
  name: string;
  url: string;
  pid: number;
  headers?: Record<string, string>;
  /** What it has to answer, before and after each load; `body` before it is encoded. */
  status: number;
  body: Buffer;
  /** How many of its answers were hits so far, where it counts them: each one of a load has to be. */
  hits?: () => Promise<number>;
};

/** By round: processor time of one request in microseconds, and requests a second. */
export type Lap = { cpu: number[]; perSecond: number[] };

/** What is measured has to be the right answer. */
const assertAnswer = async ({ name, url, headers, status, body }: Contender): Promise<void> => {
  const answer = await ask(url, headers);
  const bytes = answer.headers["content-encoding"] === "br" ? brotliDecompressSync(answer.bytes) : answer.bytes;
  if (answer.status !== status || sha256(bytes) !== sha256(body))
    throw new Error(`${name} answered ${answer.status} and ${bytes.length} other bytes`);
};

/** False where others had too much of the machine meanwhile: then it says nothing. */
const lap = async (contender: Contender, seconds: number, measured: Lap, mayRepeat: boolean): Promise<boolean> => {
  await assertAnswer(contender);
  const hitsBefore = await contender.hits?.();
  const shareOfOthers = watchNeighbours(contender.pid);
  const before = cpuMicroseconds(contender.pid);
  const { requests, perSecond } = await load(contender.url, seconds, contender.headers);
  const cpu = (cpuMicroseconds(contender.pid) - before) / requests;
  const others = shareOfOthers();
  const hits = hitsBefore === undefined ? requests : ((await contender.hits?.()) ?? 0) - hitsBefore;
  if (hits < requests) throw new Error(`${contender.name}: ${hits} hits in ${requests} requests`);
  await assertAnswer(contender);
  if (others > OTHERS && mayRepeat) return false;
  measured.cpu.push(cpu);
  measured.perSecond.push(perSecond);
  return true;
};

/** Loads each in turn, in another order each round, after a warm-up; a lap that others disturbed is run again. */
export const race = async (contenders: Contender[], { rounds, seconds }: BenchOptions): Promise<Map<string, Lap>> => {
  const laps = new Map<string, Lap>(contenders.map(({ name }) => [name, { cpu: [], perSecond: [] }]));
  for (const contender of contenders) await lap(contender, 1, { cpu: [], perSecond: [] }, false);
  let repeated = 0;
  for (let round = 0; round < rounds; round++) {
    if (process.stdout.isTTY) process.stdout.write(`\rround ${round + 1} of ${rounds}`);
    for (const contender of shuffled(contenders))
      while (!(await lap(contender, seconds, laps.get(contender.name) as Lap, repeated < REPEATS))) {
        repeated++;
        await new Promise((resolve) => void setTimeout(resolve, PAUSE));
      }
  }
  if (process.stdout.isTTY) process.stdout.write("\r");
  if (repeated > 0)
    console.log(
      `${repeated} laps were repeated${repeated === REPEATS ? ", and some not any more" : ""}: others used the machine`,
    );
  return laps;
};

const ratios = (ours: number[], theirs: number[]): number[] => ours.map((value, i) => value / (theirs[i] as number));

/** The medians of each, and the ratios of those that are to be compared (where they took part), with their aims. */
export const reportRace = (
  title: string,
  laps: Map<string, Lap>,
  pairs: readonly (readonly [ours: string, theirs: string, aim?: string])[],
): void => {
  const width = Math.max(...[...laps.keys()].map((name) => name.length));
  console.log(`${title}, 64 connections, medians of ${[...laps.values()][0]?.cpu.length} rounds [range]`);
  for (const [name, { cpu, perSecond }] of laps)
    console.log(`  ${name.padEnd(width)} ${spread(cpu)} us CPU a request, ${spread(perSecond)} requests a second`);
  const idle = [...laps].filter(
    ([, { cpu, perSecond }]) => median(perSecond.map((n, i) => (n * (cpu[i] as number)) / 1e6)) < 0.85,
  );
  if (idle.length > 0)
    console.log(`  not at their limit, so that their throughput says less: ${idle.map(([name]) => name).join(", ")}`);
  for (const [ours, theirs, aim] of pairs) {
    const [a, b] = [laps.get(ours), laps.get(theirs)];
    if (!a || !b) continue;
    console.log(
      `  ${ours} against ${theirs}: throughput ${spread(ratios(a.perSecond, b.perSecond))}${aim === undefined ? "" : ` (aim: ${aim})`}, CPU ${median(ratios(a.cpu, b.cpu)).toFixed(2)}`,
    );
  }
};
