import { setTimeout as sleep } from "node:timers/promises";
import type { DifferenceView } from "../../features/migration/differences.ts";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { numberFrom } from "../../tools/optionValues.ts";
import { openCommandLine, runCommand } from "../../tools/runCommand.ts";
import { type StandIn, startStandIn } from "../standIn/startStandIn.ts";
import { sendTraffic } from "../standIn/traffic.ts";
import { type Program, startProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { findingOf, plantedFaults } from "./plantedFaults.ts";

/** The demo's gate moves soon: a person is watching. */
const gate = { parity: 0.9, requests: 1, minutes: 0.2, errorRate: 0.05, p95: 5000, hold: 5 };
/** The endpoint that is moved by hand, under old clients. */
const moved = "getDatasetFeatures";
const faulty = [...new Set(plantedFaults.map(({ fault }) => fault.endpoint))];
const stages = {
  ...Object.fromEntries(faulty.map((endpoint) => [endpoint, { stage: "shadow", share: 100 }])),
  // The first endpoint's fault shows while modern answers callers, so the gate takes it back. The second
  // has no fault and climbs.
  listEvaluationMeasures: { stage: "canary", share: 50, gate },
  getDatasetQualities: { stage: "shadow", share: 100, gate },
  [moved]: { stage: "shadow", share: 100 },
};

const oldClients = ["catalogue-client/0.14.2 (Python 3.12)", "catalogue-client/0.9.0 (Python 3.8)", "rcatalogue/1.12"];
const oldPaths = ["json/data/61", "json/data/list/limit/5", "xml/data/2", "json/evaluationmeasure/list"];
// Some clients send a key with everything.
const keyed = ["json/data/list/limit/5", "json/task/list/limit/5"].map((path) => `${path}?api_key=${"0".repeat(32)}`);
const allPaths = [...oldPaths, ...keyed];

/** The forms in which legacy fails, what each is, and whether the gateway is restarted in it. */
const outages = [
  ["database", "its database is stopped (code 107)", false],
  ["page-503", "its front answers 503, and a restart", true],
] as const;

/** Sends what clients of the new interface do not: evidence for two gates, and requests of old clients. */
const sendBeside: Parameters<typeof sendTraffic>[3] = (send, count, agent) => {
  if (count % 4 === 0) {
    // The endpoint that climbs needs distinct requests.
    for (const path of ["evaluationmeasures/list", `datasets/qualities/${1 + ((count / 4) % 60)}`])
      send(`/v1/${path}`, { headers: { "User-Agent": agent } });
  }
  if (count % 5 === 0)
    send(`/api/v1/${allPaths[(count / 5) % allPaths.length]}`, {
      headers: { "User-Agent": oldClients[count % oldClients.length] ?? "" },
    });
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const run = async ({ rate, outages: fails }: { rate: number; outages: boolean }): Promise<void> => {
  const stopping = new AbortController();
  const { signal } = stopping;
  // SIGHUP comes when the terminal is closed. A process that a signal kills would leave its gateway running.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stopping.abort());
  // The new implementation has a catalogue of its own: it does not fail with legacy.
  const [legacy, modernLegacy] = [await startSampleLegacy(), await startSampleLegacy()];
  const modern = await startStandIn({
    legacyUrl: modernLegacy.url,
    faults: plantedFaults.map(({ fault }) => fault),
  });
  const settings = {
    LOG_LEVEL: "silent",
    MIRROR_RATE: "500",
    CACHE_LEGACY: "all",
    MOVE_LEGACY: moved,
    CACHE_DISK_BYTES: String(256 * 1024 ** 2),
    DATA_DIR: temporaryFolder(),
    PORT: "8000",
    ...(process.env as Record<string, string>),
    LEGACY_URL: legacy.url,
    MODERN_URL: modern.url,
    STAGES: JSON.stringify(stages),
  };
  let gateway: Program | undefined;
  const start = async (ports: Record<string, string> = {}): Promise<Program> => {
    const started = await startProgram({ ...settings, ...ports });
    gateway = started;
    void started.ended.then(() => gateway === started && stopping.abort());
    return started;
  };
  const { port, adminPort } = await start();
  const restart = async (): Promise<void> => {
    const running = gateway;
    gateway = undefined;
    await running?.stop();
    if (!signal.aborted) await start({ PORT: String(port), ADMIN_PORT: String(adminPort) });
  };
  const [client, page] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  print(`Operators' page: ${page}/   new interface: ${client}/v1/datasets/61`);
  print(`${plantedFaults.length} faults are planted in the new implementation. Found by comparing it with legacy:`);
  const sending = sendTraffic(client, rate, signal, sendBeside);
  await watch(page, modern, signal);
  if (!signal.aborted) {
    print("listEvaluationMeasures goes back to shadow by its gate; getDatasetQualities climbs to modern.");
    await showMove(client, page, signal);
    if (fails) await showOutages(legacy.url, client, restart, signal);
    print("The traffic goes on. Ctrl-C ends it.");
  }
  await sending;
  await gateway?.stop();
  await modern.close();
  await modernLegacy.close();
  await legacy.close();
};

/** Moves an endpoint, and says at each stage who answers old clients. */
const showMove = async (client: string, page: string, signal: AbortSignal): Promise<void> => {
  print(`${moved} is moved by hand. Old clients ask for /api/v1/json/data/features/61:`);
  const documents = new Set<string>();
  for (const stage of ["shadow", "canary", "modern"]) {
    const body = JSON.stringify({ stage, share: 50, by: "the demo", why: "to show old clients" });
    const headers = { "Content-Type": "application/json" };
    // It is held until its evidence suffices.
    while (!signal.aborted && !(await fetch(`${page}/stages/${moved}`, { method: "POST", headers, body })).ok)
      await sleep(500, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    let byModern = 0;
    for (const agent of oldClients) {
      const answer = await fetch(`${client}/api/v1/json/data/features/61`, { headers: { "User-Agent": agent } });
      if (answer.headers.get("gateway-decision")?.includes("backend=modern")) byModern++;
      documents.add(JSON.stringify(await answer.json()));
    }
    const same = documents.size === 1 ? "the same document" : "another document";
    print(`  ${stage}  modern answers ${byModern} of ${oldClients.length} old clients: ${same}`);
  }
};

const showOutages = async (
  legacy: string,
  client: string,
  restart: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  print("Legacy fails in two forms, for ten seconds each. In the second the gateway is restarted. Old clients go on:");
  for (const [form, what, isRestart] of outages) {
    await fetch(`${legacy}/outage/${form}`, { method: "POST" });
    if (isRestart) await restart();
    print(`  ${what.padEnd(36)} ${await askInOutage(client, signal)}`);
  }
  await fetch(`${legacy}/outage`, { method: "DELETE" });
};

/** Asks what old clients ask, for ten seconds, and says what they got. */
const askInOutage = async (client: string, signal: AbortSignal): Promise<string> => {
  const ends = performance.now() + 10_000;
  const reads = { all: 0, cached: 0 };
  const lists = { all: 0, good: 0 };
  for (let i = 0; performance.now() < ends && !signal.aborted; i++) {
    const path = allPaths[i % allPaths.length] ?? "";
    const { ok, headers, body } = await fetch(`${client}/api/v1/${path}`);
    await body?.cancel();
    if (keyed.includes(path)) {
      lists.all++;
      lists.good += Number(ok);
    } else {
      reads.all++;
      reads.cached += Number(ok && headers.has("cache-status"));
    }
    await sleep(50, undefined, { signal }).catch(() => undefined);
  }
  return `${reads.cached} of ${reads.all} reads come from the cache, ${lists.good} of ${lists.all} lists with a key`;
};

/** Prints each fault once it is found, until all are. */
const watch = async (page: string, modern: StandIn, signal: AbortSignal): Promise<void> => {
  const started = performance.now();
  const left = new Set(plantedFaults);
  while (left.size > 0 && !signal.aborted) {
    await sleep(500, undefined, { signal }).catch(() => undefined);
    const found = await Promise.all(["unexplained", "drift"].map((kind) => differencesOf(page, kind))).catch(() => []);
    for (const planted of left) {
      const finding = findingOf(planted.fault, modern.planted(), found.flat());
      if (finding === undefined) continue;
      left.delete(planted);
      const where = `${planted.fault.endpoint} ${finding.paths[0] === "" ? "(the list)" : (finding.paths[0] ?? "")}`;
      print(`  ${finding.kind === "drift" ? "≈ drift      " : "? unexplained"}  ${where.padEnd(46)} ${planted.means}`);
    }
  }
  if (!signal.aborted)
    print(
      `${plantedFaults.length - left.size} of ${plantedFaults.length} found after ${Math.round((performance.now() - started) / 1000)} s.`,
    );
};

const differencesOf = async (page: string, kind: string): Promise<DifferenceView[]> =>
  (await (await fetch(`${page}/differences?kind=${kind}`)).json()) as DifferenceView[];

const command = openCommandLine("npm run demo --")
  .description(
    `A migration to look at: the sample legacy, a stand-in for the new implementation with ${plantedFaults.length} faults planted in it, clients of both interfaces, and the gateway between them with its operators' page, until Ctrl-C. It prints each fault when the comparison has found it. Then an endpoint is moved under old clients. Then legacy fails in two forms, for ten seconds each, and the gateway is restarted in the second.`,
  )
  .option("--rate <n>", "requests a second", numberFrom(1, 200), 20)
  .option("--no-outages", "legacy does not fail")
  .addHelpText("after", "\nPORT and ADMIN_PORT are those of the gateway (8000 and 18000); 0 takes a free one.")
  .action(run);
await runCommand(command, process.argv.slice(2), {
  complain: (line) => void process.stderr.write(`${line}\n`),
  exit: (code) => process.exit(code),
});
