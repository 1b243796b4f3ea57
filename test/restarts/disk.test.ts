import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { percentile } from "../../bench/statistics.ts";
import { until } from "../support/waiting.ts";
import { ask } from "../torture/lib/client.ts";
import { type Life, load, startLife, verify } from "./diskLife.ts";

/** Ends of the gateway, and seconds of requests before each at most: half of them at least. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 20);
const SECONDS = Number(process.env["SECONDS"] ?? 30);
/** Rounds on the same file. The last of them ends with SIGTERM, the others with `kill -9`. */
const ROUNDS_OF_A_FILE = 4;
/** Milliseconds before `kill -9` from which an answer may be lost. */
const LOSS_MS = 1000;
/** Seconds of requests before a file is cut. */
const CUT_SECONDS = Math.min(SECONDS, 5);

/** Starts a gateway and its legacy for the rest of the test. */
const lifeOfTest = async (): Promise<Life> => {
  const life = await startLife();
  onTestFinished(async () => {
    await life.gateway.stop();
    await life.closeLegacy();
  });
  return life;
};

/** Starts the gateway again, while legacy is dead. Resolves with the time that it took. */
const startAgain = async (life: Life): Promise<string> => {
  await life.closeLegacy();
  const began = performance.now();
  life.gateway = await life.start();
  return `start ${(performance.now() - began).toFixed(0)} ms`;
};

/** Opens legacy, and waits until the gateway has noticed it. */
const openAgain = async (life: Life): Promise<void> => {
  life.closeLegacy = await life.catalogue.openLegacy();
  const ready = () => ask(life.gateway.adminPort, "/readyz?verbose");
  await until(async () => (await ready()).body.includes('{"name":"legacy","state":"ok"'));
};

/** Prints a round, and returns what did not hold. */
const report = (
  name: string,
  start: string,
  done: Awaited<ReturnType<typeof load>>,
  found: Awaited<ReturnType<typeof verify>>,
) => {
  const { asked, fromDisk, times, late, missing } = found;
  const wrong = [...done.wrong, ...found.wrong];
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(times, share).toFixed(1));
  const counts = `${asked} addresses asked, ${fromDisk} from disk, ${late} late, ${missing.length} missing, ${wrong.length} wrong`;
  process.stdout.write(
    `${name}: ${done.reads} reads, ${done.writes} writes; ${start}; ${counts}; p50 ${p50} ms, p99 ${p99} ms\n`,
  );
  return [...wrong, ...missing.map(({ path }) => `${path}: missing`)].map((what) => `${name}: ${what}`);
};

test(
  "after an end at any moment the disk has what was served, and nothing that was written since",
  { timeout: 60_000 + ROUNDS * (SECONDS + 120) * 1000 },
  async () => {
    const failed: string[] = [];
    let life: Life | undefined;
    for (let round = 1; round <= ROUNDS; round++) {
      const isLast = round % ROUNDS_OF_A_FILE === 0;
      if (life === undefined) life = await lifeOfTest();
      else await openAgain(life);
      const ms = SECONDS * 1000 * (0.5 + Math.random() / 2);
      const done = await load(life, ms, isLast ? "SIGTERM" : "SIGKILL");
      const start = await startAgain(life);
      const found = await verify(life, isLast ? Infinity : done.killedAt - LOSS_MS);
      failed.push(...report(`round ${round}`, start, done, found));
      if (!isLast) continue;
      await life.gateway.stop();
      life = undefined;
    }
    expect([failed.length, failed.slice(0, 20)]).toEqual([0, []]);
  },
);

test.each(["", "-wal", ".marks"])(
  "after a kill a file %j that is cut anywhere brings nothing back that was written since",
  { timeout: 60_000 + ROUNDS * (CUT_SECONDS + 60) * 1000 },
  async (part) => {
    const failed: string[] = [];
    for (let round = 1; round <= Math.ceil(ROUNDS / 4); round++) {
      const life = await lifeOfTest();
      const done = await load(life, CUT_SECONDS * 1000 * Math.random(), "SIGKILL");
      const file = join(life.folder, `catalog-gateway-cache.sqlite${part}`);
      truncateSync(file, Math.floor(statSync(file).size * Math.random()));
      const start = await startAgain(life);
      failed.push(...report(`cut ${part}, ${round}`, start, done, await verify(life, 0)));
      await life.gateway.stop();
    }
    expect([failed.length, failed.slice(0, 20)]).toEqual([0, []]);
  },
);
