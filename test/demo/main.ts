import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { DifferenceView } from "../../src/features/migration/views.ts";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { type StandIn, startStandIn } from "../standIn/startStandIn.ts";
import { sendTraffic } from "../standIn/traffic.ts";
import { findingOf, plantedFaults } from "./plantedFaults.ts";

const usage = `npm run demo -- [--rate N] [--once] [--help]

A migration to look at: the sample legacy, a stand-in for the new implementation with ${plantedFaults.length} faults planted in it, clients of both
interfaces, and the gateway between them with its operators' page, until Ctrl-C. It prints each fault when the comparison has found it.
  --rate N   requests a second, 1 to 200 (default: 20)
  --once     ends when all faults are found. Exit code: 0 they are, 1 they are not within a minute
PORT and ADMIN_PORT are those of the gateway (8000 and 8001); 0 takes a free one. Exit code 2: it could not start.`;

const MINUTE = 60_000;

/** The demo's gate does not wait: a person looks on. */
const gate = { parity: 0.9, requests: 1, minutes: 0.2, errorRate: 0.05, p95: 5000, hold: 5 };
const faulty = [...new Set(plantedFaults.map(({ fault }) => fault.endpoint))];
const stages = {
  ...Object.fromEntries(faulty.map((endpoint) => [endpoint, { stage: "shadow", share: 100 }])),
  // Its fault shows while modern answers callers: the gate takes it back. The other one has no fault and climbs.
  listEvaluationMeasures: { stage: "canary", share: 50, gate },
  getDatasetQualities: { stage: "shadow", share: 100, gate },
};

const oldClients = ["catalogue-client/0.14.2 (Python 3.12)", "catalogue-client/0.9.0 (Python 3.8)", "rcatalogue/1.12"];
const oldPaths = ["json/data/61", "json/data/list/limit/5", "xml/data/2", "json/evaluationmeasure/list"];

/** Starts the gateway as `npm start` does; resolves with its addresses, or with `undefined` if it did not start. */
const startGateway = async (legacy: string, modern: string) => {
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: new URL("../../", import.meta.url),
    env: {
      LOG_LEVEL: "silent",
      MIRROR_RATE: "500",
      ...process.env,
      LEGACY_URL: legacy,
      MODERN_URL: modern,
      STAGES: JSON.stringify(stages),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  while (!text.includes("\n") && child.exitCode === null) await Promise.race([once(child.stdout, "data"), ended]);
  const [, client = "", page = ""] = /listens on (\S+), .*; operators: (\S+)/.exec(text) ?? [];
  const close = async () => {
    child.kill("SIGINT");
    await ended;
  };
  return page === "" ? undefined : { client, page, close, ended };
};

/** Requests beside those of the new interface's clients: evidence for two gates, and clients of the legacy interface. */
const sendBeside: Parameters<typeof sendTraffic>[3] = (send, count, agent) => {
  if (count % 4 === 0) {
    // The one that climbs needs distinct requests.
    for (const path of ["evaluationmeasures/list", `datasets/qualities/${1 + ((count / 4) % 60)}`])
      send(`/v1/${path}`, { headers: { "User-Agent": agent } });
  }
  if (count % 5 === 0)
    send(`/api/v1/${oldPaths[count % oldPaths.length]}`, {
      headers: { "User-Agent": oldClients[count % oldClients.length] ?? "" },
    });
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const run = async (perSecond: number, isOnce: boolean): Promise<void> => {
  const stopping = new AbortController();
  const { signal } = stopping;
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort());
  const legacy = await startSampleLegacy();
  const modern = await startStandIn({
    legacyUrl: legacy.url,
    faults: plantedFaults.map(({ fault }) => fault),
  });
  const gateway = await startGateway(legacy.url, modern.url);
  if (gateway === undefined) process.exitCode = 2;
  else {
    void gateway.ended.then(() => stopping.abort());
    print(`Operators' page: ${gateway.page}/   new interface: ${gateway.client}/v1/datasets/61`);
    print(`${plantedFaults.length} faults are planted in the new implementation. Found by comparing it with legacy:`);
    const sending = sendTraffic(gateway.client, perSecond, signal, sendBeside);
    const isComplete = await watch(gateway.page, modern, signal, isOnce ? MINUTE : Number.POSITIVE_INFINITY);
    if (isOnce) {
      process.exitCode = isComplete ? 0 : 1;
      stopping.abort();
    } else if (!signal.aborted) {
      print("listEvaluationMeasures goes back to shadow by its gate; getDatasetQualities climbs to modern.");
      print("The traffic goes on. Ctrl-C ends it.");
    }
    await sending;
    await gateway.close();
  }
  await modern.close();
  await legacy.close();
};

/** Prints each fault once it is found; true if all are found in time. */
const watch = async (page: string, modern: StandIn, signal: AbortSignal, milliseconds: number): Promise<boolean> => {
  const started = performance.now();
  const left = new Set(plantedFaults);
  while (left.size > 0 && !signal.aborted && performance.now() - started < milliseconds) {
    await sleep(500, undefined, { signal }).catch(() => undefined);
    const found = await Promise.all(["unexplained", "drift"].map((kind) => differencesOf(page, kind))).catch(() => []);
    for (const one of left) {
      const finding = findingOf(one.fault, modern.planted(), found.flat());
      if (finding === undefined) continue;
      left.delete(one);
      const where = `${one.fault.endpoint} ${finding.paths[0] === "" ? "(the list)" : (finding.paths[0] ?? "")}`;
      print(`  ${finding.kind === "drift" ? "≈ drift      " : "? unexplained"}  ${where.padEnd(46)} ${one.means}`);
    }
  }
  if (!signal.aborted)
    print(
      `${plantedFaults.length - left.size} of ${plantedFaults.length} found after ${Math.round((performance.now() - started) / 1000)} s.`,
    );
  return left.size === 0;
};

const differencesOf = async (page: string, kind: string): Promise<DifferenceView[]> =>
  (await (await fetch(`${page}/differences?kind=${kind}`)).json()) as DifferenceView[];

try {
  const { values } = parseArgs({
    options: { rate: { type: "string", default: "20" }, once: { type: "boolean" }, help: { type: "boolean" } },
  });
  const rate = Number(values.rate);
  if (values.help) print(usage);
  else if (!(rate >= 1 && rate <= 200)) {
    process.stderr.write(`--rate: ${JSON.stringify(values.rate)} given; allowed is a number from 1 to 200\n`);
    process.exitCode = 2;
  } else await run(rate, values.once ?? false);
} catch (error) {
  process.stderr.write(`${error instanceof TypeError ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
