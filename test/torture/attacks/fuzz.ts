import { Agent } from "node:http";
import { type Attack, type Check, atMost, faultless, holds, liveness, none } from "../lib/attack.ts";
import { ask, inParallel, jsonOf } from "../lib/client.ts";
import { type FuzzTally, openFuzz, pickFramingPlan } from "../fuzz/fuzz.ts";
import { datasetOf } from "../fuzz/model.ts";
import type { FuzzedUpstream } from "../fuzz/upstream.ts";
import type { Program } from "../../support/program.ts";
import { holdsWithin } from "../../support/waiting.ts";

/** More than the gateway has connections to the upstream, so that some wait for one. */
const CLIENTS = 96;
/**
 * Milliseconds after which an answer does not come any more: far longer than all time limits of the gateway together.
 */
const ANSWER_LIMIT = 60_000;
/**
 * The MiB by which resident memory may stay above the start: code that was compiled meanwhile, and a heap that
 * is not given back at once.
 */
const MEMORY_BOUND = 100;

const settings = {
  HEADERS_TIMEOUT_MS: "1500",
  BODY_TIMEOUT_MS: "1500",
  TOTAL_TIMEOUT_MS: "4000",
  DRAIN_TIMEOUT_MS: "4000",
  // Answers are evicted and revalidated all the time.
  CACHE_BYTES: "2000000",
  CACHE_LIFETIMES: JSON.stringify({
    getDataset: { fresh: "1s", staleWhileRevalidate: "2s", staleIfError: "1m", notFoundTtl: "1s" },
    listDatasets: { fresh: "1s", staleWhileRevalidate: "2s" },
    listEvaluationMeasures: { fresh: "1s", staleWhileRevalidate: "2s" },
  }),
};

/** The fuzz; `plan` says what its connections do, `share` how many of the requests it sends. */
const fuzzWith =
  ({ plan, share = 1 }: { plan?: typeof pickFramingPlan; share?: number } = {}): Attack["run"] =>
  async (context) => {
    let gateway: Program | undefined;
    const { upstream, run } = await openFuzz({
      seed: context.seed,
      requests: Math.ceil(context.requests * share),
      clients: CLIENTS,
      limit: ANSWER_LIMIT,
      isOver: () => gateway?.isAlive() === false,
      ...(plan && { plan }),
    });
    context.onEnd(() => upstream.close());
    gateway = await context.startGateway({ LEGACY_URL: upstream.url, ...settings });
    await askNormally(gateway);
    // Connections that are just closing count on one side only.
    await holdsWithin(() => upstream.sockets() === 0, 60_000);
    if (!gateway.isAlive()) return [liveness(gateway)];
    const start = {
      resident: gateway.resident(),
      openFiles: gateway.openFiles(),
      processor: gateway.processorTime(),
    };
    const began = performance.now();
    const tally = await run(gateway.port);
    const seconds = (performance.now() - began) / 1000;
    const processor = gateway.isAlive() ? gateway.processorTime() - start.processor : 0;
    return [...checksOf(tally, seconds, processor), ...(await afterwards(gateway, upstream, start))];
  };

export const fuzz: Attack = {
  name: "fuzz",
  what: "Fuzzed clients ask a fuzzed upstream through the gateway; an oracle knows each right answer.",
  run: fuzzWith(),
};

export const framing: Attack = {
  name: "framing",
  what: "Bytes that are nearly requests come between hits: no body becomes a request, and no request gets two answers.",
  run: fuzzWith({ plan: pickFramingPlan, share: 0.5 }),
};

const checksOf = (tally: FuzzTally, seconds: number, processor: number): Check[] => {
  const { sent, right, gatewayErrors, cut, unsent, late, malformed, unjudged, wrong, hung, examples } = tally;
  const wellFormed = sent - malformed - unjudged;
  const share = (count: number) => (100 * count) / Math.max(1, wellFormed);
  const about = `${sent} requests in ${seconds.toFixed(0)} s (${(sent / seconds).toFixed(0)}/s): ${right} right, ${gatewayErrors} errors and ${cut} cut by the upstream's fault, ${malformed} malformed, ${unjudged} unjudged; ${processor.toFixed(0)} s of the gateway's processor time`;
  return [
    holds("requests sent", about, "all that were asked for", true),
    none("wrong answers", examples, wrong),
    atMost("requests without an end", hung, 0),
    holds("right answers", `${share(right).toFixed(1)} %`, "at least 60 % of those judged", share(right) >= 60),
    holds(
      "sound answers that were lost or late",
      `${unsent + late} (${share(unsent + late).toFixed(2)} %)`,
      "at most 0.2 %",
      share(unsent + late) <= 0.2,
    ),
  ];
};

const askNormally = async ({ port }: Program): Promise<string[]> => {
  const failed: string[] = [];
  const agent = new Agent({ keepAlive: true });
  await inParallel(200, 8, async (index) => {
    const id = 1000 + index;
    const [ours, proxied] = [`/v1/datasets/${id}`, `/api/v1/json/data/${id}`];
    const expected = datasetOf(id);
    const hidden = expected === undefined || expected.visibility === "private";
    const mine = await ask(port, ours, { limit: 30_000, agent });
    const isRight = hidden
      ? mine.status === 404 || mine.status === 403
      : mine.status === 200 && (jsonOf(mine) as { id?: unknown }).id === id;
    if (!isRight) failed.push(`${ours} ${mine.status}`);
    const theirs = await ask(port, proxied, { limit: 30_000, agent });
    const id200 = (jsonOf(theirs) as { data_set_description?: { id?: unknown } } | undefined)?.data_set_description?.id;
    if (hidden ? theirs.status !== 412 : theirs.status !== 200 || id200 !== String(id))
      failed.push(`${proxied} ${theirs.status}`);
  });
  agent.destroy();
  return failed;
};

/** Bytes of answers and bodies in memory, and requests that are being answered. */
const heldBy = async ({ adminPort }: Program): Promise<number> => {
  const page = (await ask(adminPort, "/metrics")).body.toString();
  const values = [...page.matchAll(/^catalog_gateway_(?:memory_bytes|requests_in_flight) (\d+)$/gm)];
  if (values.length !== 2) throw new Error("the metrics of what is held are not there");
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
};

/** Everything is as before: answers, sockets, files, memory; and the process ends well. */
const afterwards = async (
  gateway: Program,
  upstream: FuzzedUpstream,
  start: { resident: number; openFiles: number },
): Promise<Check[]> => {
  const alive = liveness(gateway);
  if (!alive.holds) return [alive];
  upstream.becomeSound();
  // A circuit that the faults opened closes again after five seconds.
  let failed: string[] = [];
  await holdsWithin(async () => (failed = await askNormally(gateway)).length === 0, 60_000);
  const areFilesBack = await holdsWithin(
    () => upstream.sockets() === 0 && gateway.openFiles() <= start.openFiles,
    60_000,
  );
  const isMemoryBack = () => gateway.resident() <= start.resident + MEMORY_BOUND;
  // The heap shrinks when it is used.
  await holdsWithin(async () => {
    if (!isMemoryBack()) await askNormally(gateway);
    return isMemoryBack();
  }, 30_000);
  await holdsWithin(() => upstream.sockets() === 0, 60_000);
  let held = 0;
  await holdsWithin(async () => (held = await heldBy(gateway)) === 0, 30_000);
  const [resident, openFiles, sockets] = [gateway.resident(), gateway.openFiles(), upstream.sockets()];
  const code = await gateway.stop();
  return [
    alive,
    faultless(gateway),
    atMost("bytes that it holds, and requests that it has under way", held, 0),
    holds(
      "400 normal requests",
      `${400 - failed.length} right ${failed.slice(0, 5).join(", ")}`,
      "all right",
      failed.length === 0,
    ),
    holds("open files", `${start.openFiles} -> ${openFiles}`, "as at the start", areFilesBack),
    atMost("connections to the upstream, idle for eight seconds", sockets, 0),
    holds(
      "resident memory",
      `${start.resident.toFixed(0)} -> ${resident.toFixed(0)} MiB`,
      `at most ${MEMORY_BOUND} MiB more`,
      resident <= start.resident + MEMORY_BOUND,
    ),
    holds("exit code at SIGTERM", String(code), "0", code === 0),
  ];
};
