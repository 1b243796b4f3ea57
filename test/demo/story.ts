import { setTimeout as sleep } from "node:timers/promises";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import type { Fault } from "../standIn/program/fault.ts";
import type { Planted } from "../standIn/program/planted.ts";
import { startStandIn, type StandIn } from "../standIn/program/startStandIn.ts";
import { trafficOf, type TrafficRequest } from "../standIn/program/traffic.ts";
import { startServer } from "../../src/serve/server.ts";
import type { Migration } from "../../src/features/migration/migration.ts";
import type { StageName } from "../../src/features/migration/stage.ts";
import { gatewayFor } from "../support/gateway.ts";

/** The results of the story: the planted and found differences, and the stage of each endpoint. */
type Told = {
  requests: number;
  failed: number;
  planted: string[];
  found: string[];
  missed: string[];
  falsely: string[];
  /** Planted drift, and how much of it was counted as a difference. */
  drift: { planted: number; taken: number };
  demoted: boolean;
  stages: Record<string, StageName>;
};

const faults: Fault[] = [
  { endpoint: "getDataset", fault: "wrongType", path: "/version" },
  { endpoint: "getDataset", fault: "missingField", path: "/licence" },
  { endpoint: "getDataset", fault: "reorderedList", path: "/tag" },
  { endpoint: "getDataset", fault: "otherValue", path: "/name", again: false },
  { endpoint: "listDatasets", fault: "emptyForNull", path: "/*/md5_checksum" },
  { endpoint: "listDatasets", fault: "reorderedList", path: "", share: 30 },
  { endpoint: "listDatasets", fault: "wrongType", path: "/*/quality/*/value", share: 20 },
  { endpoint: "getSetup", fault: "lostEntry", path: "/setup_parameters/parameter" },
  { endpoint: "getStudy", fault: "extraField", path: "/colour" },
  { endpoint: "findFlow", fault: "otherStatus" },
  { endpoint: "listEstimationProcedures", fault: "otherValue", path: "/*/name" },
  { endpoint: "listEvaluationMeasures", fault: "lostEntry", path: "" },
];

const AT_A_TIME = 16;
/** One endpoint of each kind: a gate wants its requests of every endpoint that moves. */
const moving = [...new Set(faults.map(({ endpoint }) => endpoint))];
/** Reference lists are one question each. */
const gate = { parity: 0.9, requests: 1, minutes: 0, errorRate: 0.05, p95: 5000, hold: 0.02 };

/** legacy -> shadow finds what is planted, and only that -> fixed -> canary by the gate -> a regression demotes it -> modern. */
export const tellStory = async (requests: number, tell: (line: string) => void): Promise<Told> => {
  const legacy = await startSampleLegacy();
  const modern = await startStandIn({ legacyUrl: legacy.url });
  const gateway = await gatewayFor(
    legacy.url,
    {
      MODERN_URL: modern.url,
      CACHE_BYTES: "0",
      MIRROR_CONCURRENCY: "1000",
      MIRROR_RATE: "100000",
      MIRROR_BYTES: "1000000000",
    },
    { times: { settle: 200, look: 50 } },
  );
  const server = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes: ["/v1"] });
  const { migration } = gateway.services;
  const traffic = trafficOf(1, requests * 50)[Symbol.iterator]();
  const asking = openAsking(`http://127.0.0.1:${server.port}/v1`, traffic);
  const moveAll = async (stage: StageName, why: string, gated = false) => {
    for (const name of moving)
      await migration.move(name, { stage, share: 100, ...(gated ? { gate } : {}) }, "the demo", why);
  };
  const stages = () => Object.fromEntries(moving.map((name) => [name, migration.stageOf(name).stage]));
  const part = (share: number) => Math.ceil(requests * share);
  try {
    tell("legacy: everything is answered by legacy, modern is never asked");
    await asking.run(part(0.05));
    if (Object.keys(modern.asked()).length > 0) throw new Error("modern was asked");

    tell(`shadow: ${faults.length} faults are planted in modern, and looked for`);
    modern.use(faults);
    await moveAll("shadow", "modern is deployed");
    await asking.run(part(0.55));
    await idle(migration);
    const comparisons = compared(modern, migration);
    tell(
      `  ${comparisons.found.length} of ${comparisons.planted.length} planted differences found, ${comparisons.falsely.length} false ones`,
    );

    tell("fixed: the gate moves what has proven itself");
    modern.use([]);
    await moveAll("shadow", "modern is fixed", true);
    for (let i = 0; i < 20 && !moving.some((name) => migration.stageOf(name).stage === "canary"); i++)
      await asking.run(part(0.01));
    tell(`  ${JSON.stringify(stages())}`);

    tell("a regression: dataset names are wrong from now on");
    modern.use([{ endpoint: "getDataset", fault: "otherValue", path: "/name" }]);
    const demotion = () =>
      migration
        .audit()
        .some(
          ({ endpoint, by, why, to }) =>
            endpoint === "getDataset" && by === "gate" && to.stage === "shadow" && why.includes("parity"),
        );
    // A mismatch counts once it has been checked again, so the time matters here, not the number of requests.
    for (const end = Date.now() + 15_000; Date.now() < end && !demotion();) {
      if (migration.stageOf("getDataset").stage === "shadow") {
        // It was found out before it was promoted: that is no demotion, so it is promoted by hand.
        await migration.move("getDataset", { stage: "canary", share: 50, gate }, "the demo", "to see it go down again");
      }
      await asking.run(part(0.01));
    }
    tell(
      `  ${demotion() ? "demoted" : "NOT demoted"}: ${migration.audit().find(({ by, to }) => by === "gate" && to.stage === "shadow")?.why ?? ""}`,
    );

    tell("fixed again: up to modern");
    modern.use([]);
    await migration.move("getDataset", { stage: "shadow", share: 100, gate }, "the demo", "modern is fixed again");
    const isOver = () => asking.count() >= requests && Object.values(stages()).every((stage) => stage === "modern");
    for (const end = Date.now() + 60_000; Date.now() < end && !isOver();) {
      // Once the day's requests are done, only what is still on its way is asked for.
      await asking.run(
        part(0.01),
        (endpoint) => asking.count() < requests || (stages()[endpoint] ?? "modern") !== "modern",
      );
      // Gates look at their evidence now and then, however many requests there are.
      await sleep(10);
    }
    tell(`  ${JSON.stringify(stages())}`);
    return { ...comparisons, requests: asking.count(), failed: asking.failed(), demoted: demotion(), stages: stages() };
  } finally {
    await server.stop(1000);
    await gateway.close();
    await modern.close();
    await legacy.close();
  }
};

const openAsking = (base: string, traffic: Iterator<TrafficRequest>) => {
  let count = 0;
  let failed = 0;
  const one = async ({ method, path, body, key, client }: TrafficRequest) => {
    const response = await fetch(base + path, {
      method,
      headers: {
        "User-Agent": client,
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    if (response.status >= 500) failed++;
  };
  return {
    count: () => count,
    failed: () => failed,
    async run(requests: number, isWanted: (endpoint: string) => boolean = () => true) {
      let left = requests;
      const work = async () => {
        for (; left > 0;) {
          const next = traffic.next();
          if (next.done) return;
          if (!isWanted(next.value.endpoint)) continue;
          left--;
          count++;
          await one(next.value);
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, work));
    },
  };
};

/** Resolves when all pending comparisons have ended. */
const idle = async (migration: Migration): Promise<void> => {
  let before = -1;
  for (;;) {
    const now = Object.values(migration.view()).reduce((sum, { parity }) => sum + parity.compared, 0);
    if (now === before) return;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
};

const compared = (modern: StandIn, migration: Migration) => {
  const named = ({ endpoint, path, form }: { endpoint: string; path: string; form: string }) =>
    `${endpoint} ${path} ${form}`;
  const all = modern.planted().filter((one): one is Planted & { path: string; form: never } => "path" in one);
  const planted = all.filter(({ as }) => as === "difference").map(named);
  const found = migration.differences("unexplained").map(named);
  const drift = all.filter(({ as }) => as === "drift").map(named);
  return {
    planted,
    found: planted.filter((one) => found.includes(one)),
    missed: planted.filter((one) => !found.includes(one)),
    falsely: found.filter((one) => !planted.includes(one)),
    drift: {
      planted: drift.length,
      taken: drift.filter((one) => found.includes(one) && !planted.includes(one)).length,
    },
  };
};
