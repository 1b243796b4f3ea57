import { ask } from "./ask.ts";
import { listBody, studyBody } from "./bodies.ts";
import { UPSTREAM_CORE, SERVER_CORE } from "./cores.ts";
import { startGateway } from "./gateway.ts";
import { reportMissingTools } from "./leftOut.ts";
import { startFixedAnswer, startJson } from "./peers/fixedAnswer.ts";
import { stopAll } from "./processes.ts";
import { type BenchOptions, type Contender, type Lap, oneAfterTheOther, race, reportRace } from "./race.ts";

/** The least work of a gateway from JSON to JSON. */
const FLOOR = "passed through, JSON parsed and written";

/** `{n}` stands for a different number in each request. `aims`: by the contender that misses are compared with. */
const cases = [
  {
    name: "3 KB",
    body: studyBody(),
    path: "/v1/studies/s{n}",
    legacyPath: "/api/v1/json/study/s{n}",
    aims: { "passed through": { cpu: "2.2 at most", p99: "2 at most" }, [FLOOR]: {} },
  },
  {
    name: "200 KB",
    body: listBody(),
    path: "/v1/data/list/limit/263/offset/{n}",
    legacyPath: "/api/v1/json/data/list/limit/263/offset/{n}",
    aims: { "passed through": {}, [FLOOR]: { cpu: "2.7 at most" } },
  },
];

const lengthOf = (body: Buffer): Buffer =>
  Buffer.from(String(Buffer.byteLength(JSON.stringify(JSON.parse(body.toString())))));

/**
 * Measures misses of distinct requests, stored and not stored. They are compared with the same legacy answers passed
 * through by the same gateway, and with that plus JSON.parse and JSON.stringify of the same bytes. Figures are ratios:
 * CPU a request (all threads, user and system) and p99.
 */
export const benchMiss = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  for (const { name, body, path, legacyPath, aims } of cases) {
    const upstream = await startFixedAnswer(UPSTREAM_CORE, body);
    const { url, pid, counted } = await startGateway(SERVER_CORE, upstream);
    const answer = await ask((url + path).replace("{n}", "1"));
    const misses = () => counted("catalog_gateway_cache_answers_total", '"miss"');
    const noStore = { "Cache-Control": "no-store" };
    const miss = { url: url + path, pid, status: 200, body: answer.bytes, counted: misses };
    const contenders: Contender[] = [
      { name: "passed through", url: url + legacyPath, pid, status: 200, body },
      { ...miss, name: "miss, stored" },
      { ...miss, name: "miss, not stored", headers: noStore },
      { name: "JSON", ...(await startJson(SERVER_CORE, body)), status: 200, body: lengthOf(body) },
    ];
    const laps = await race(contenders, options);
    laps.set(FLOOR, oneAfterTheOther(laps.get("passed through") as Lap, laps.get("JSON") as Lap));
    const pairs = Object.entries(aims).flatMap(([floor, aim]) => [
      ["miss, stored", floor, aim] as const,
      ["miss, not stored", floor, aim] as const,
    ]);
    reportRace(`misses of ${name}`, laps, pairs);
    stopAll();
  }
};
