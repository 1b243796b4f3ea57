import { brotliDecompressSync } from "node:zlib";
import { ask, sha256 } from "./ask.ts";
import { distinct, load } from "./load.ts";
import { cpuMicroseconds } from "./processes.ts";
import { watchNeighbours } from "./neighbours.ts";
import { median, shuffled, spread } from "./statistics.ts";

/** The number of laps of each contender, and the seconds of each. */
export type BenchOptions = { rounds: number; seconds: number };

/** The share of a core that other processes may use in a lap without distorting it. */
const OTHERS = 0.2;
/** Seconds of load before a contender is measured: V8 compiles for about as long. */
const WARM_UP = 5;
const REPEATS = 30;
const PAUSE = 2000;

/** A server in a race. */
export type Contender = {
  name: string;
  /** `{n}` is replaced by a new number in each request. */
  url: string;
  pid: number;
  headers?: Record<string, string>;
  /** The number of requests in 100 that ask for the number 1 instead of a new number. */
  hits?: number;
  /** The answer that is expected before and after each load; `body`: before it is encoded. */
  status: number;
  body: Buffer;
  /**
   * The number of measured answers (such as hits) so far, if the contender counts them. Every answer of a load must be
   * a measured answer.
   */
  counted?: () => Promise<number>;
};

/**
 * By round: the processor time of a request in microseconds, the requests a second, and the 99th percentile of their
 * durations in milliseconds.
 */
export type Lap = { cpu: number[]; perSecond: number[]; p99: number[] };

/** @throws If the contender's answer is not the expected answer. */
const assertAnswer = async ({ name, url, headers, status, body }: Contender): Promise<void> => {
  const answer = await ask(distinct(url), headers);
  const bytes = answer.headers["content-encoding"] === "br" ? brotliDecompressSync(answer.bytes) : answer.bytes;
  if (answer.status !== status || sha256(bytes) !== sha256(body))
    throw new Error(`${name} answered ${answer.status} and ${bytes.length} other bytes`);
};

/** Runs a lap; false if other processes used too much of the machine, so that it must be repeated. */
const lap = async (contender: Contender, seconds: number, measured: Lap, mayRepeat: boolean): Promise<boolean> => {
  await assertAnswer(contender);
  const countedBefore = await contender.counted?.();
  const shareOfOthers = watchNeighbours(contender.pid);
  const before = cpuMicroseconds(contender.pid);
  const { requests, perSecond, p99 } = await load(contender.url, seconds, contender);
  const cpu = (cpuMicroseconds(contender.pid) - before) / requests;
  const others = shareOfOthers();
  const right = countedBefore === undefined ? requests : ((await contender.counted?.()) ?? 0) - countedBefore;
  if (right < requests) throw new Error(`${contender.name}: ${right} answers of its kind in ${requests} requests`);
  await assertAnswer(contender);
  if (others > OTHERS && mayRepeat) return false;
  measured.cpu.push(cpu);
  measured.perSecond.push(perSecond);
  measured.p99.push(p99);
  return true;
};

/**
 * Loads the contenders in turn, in a new order each round, after a warm-up. A disturbed lap is run again.
 *
 * @throws If a contender gives another answer than expected.
 */
export const race = async (contenders: Contender[], { rounds, seconds }: BenchOptions): Promise<Map<string, Lap>> => {
  const laps = new Map<string, Lap>(contenders.map(({ name }) => [name, { cpu: [], perSecond: [], p99: [] }]));
  for (const contender of contenders) await lap(contender, WARM_UP, { cpu: [], perSecond: [], p99: [] }, false);
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

/** The lap of two contenders one after the other, on the same core. */
export const oneAfterTheOther = (first: Lap, second: Lap): Lap => {
  const joined = (key: keyof Lap, join: (a: number, b: number) => number) =>
    first[key].map((value, i) => join(value, second[key][i] as number));
  const sum = (a: number, b: number) => a + b;
  return {
    cpu: joined("cpu", sum),
    perSecond: joined("perSecond", (a, b) => 1 / (1 / a + 1 / b)),
    p99: joined("p99", sum),
  };
};

const ratios = (ours: number[], theirs: number[]): number[] => ours.map((value, i) => value / (theirs[i] as number));

/** The aims of a pair's ratios. With an aim for `p99`, p99 is reported instead of throughput. */
type Aims = { throughput?: string; cpu?: string; p99?: string };

/** Prints the medians of all contenders, and the ratios of the pairs that took part, with their aims. */
export const reportRace = (
  title: string,
  laps: Map<string, Lap>,
  pairs: readonly (readonly [ours: string, theirs: string, aims?: Aims])[],
): void => {
  const width = Math.max(...[...laps.keys()].map((name) => name.length));
  console.log(`${title}, 64 connections, medians of ${[...laps.values()][0]?.cpu.length} rounds [range]`);
  for (const [name, { cpu, perSecond, p99 }] of laps)
    console.log(
      `  ${name.padEnd(width)} ${spread(cpu)} us CPU a request, ${spread(perSecond)} requests a second, p99 ${spread(p99)} ms`,
    );
  const idle = [...laps].filter(
    ([, { cpu, perSecond }]) => median(perSecond.map((n, i) => (n * (cpu[i] as number)) / 1e6)) < 0.85,
  );
  if (idle.length > 0)
    console.log(`  not at their limit, so that their throughput says less: ${idle.map(([name]) => name).join(", ")}`);
  for (const [ours, theirs, aims = {}] of pairs) {
    const [a, b] = [laps.get(ours), laps.get(theirs)];
    if (!a || !b) continue;
    const figures = (["throughput", "cpu", "p99"] as const)
      .filter((figure) => figure === "cpu" || (figure === "p99") === (aims.p99 !== undefined))
      .map((figure) => {
        const key = figure === "throughput" ? "perSecond" : figure;
        const name = figure === "cpu" ? "CPU" : figure;
        return `${name} ${spread(ratios(a[key], b[key]))}${aims[figure] === undefined ? "" : ` (aim: ${aims[figure]})`}`;
      });
    console.log(`  ${ours} against ${theirs}: ${figures.join(", ")}`);
  }
};
