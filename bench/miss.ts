import { ask } from "./ask.ts";
import { datasetBody, listBody } from "./bodies.ts";
import { UPSTREAM_CORE, SERVER_CORE } from "./cores.ts";
import { startGateway } from "./gateway.ts";
import { reportMissingTools } from "./leftOut.ts";
import { startFixedAnswer } from "./peers/fixedAnswer.ts";
import { stopAll } from "./processes.ts";
import { type BenchOptions, type Contender, race, reportRace } from "./race.ts";

/** `{n}` stands for a number of each request's own. */
const cases = [
  { name: "3 KB", body: datasetBody(), path: "/v1/datasets/{n}", legacyPath: "/api/v1/json/data/{n}" },
  {
    name: "200 KB",
    body: listBody(),
    path: "/v1/data/list/limit/263/offset/{n}",
    legacyPath: "/api/v1/json/data/list/limit/263/offset/{n}",
  },
];

/**
 * Misses of distinct requests, stored and not stored, against the same legacy answers passed through by the same gateway:
 * CPU a request (all threads, user and system) and p99, as ratios.
 */
export const benchMiss = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  for (const { name, body, path, legacyPath } of cases) {
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
    ];
    const laps = await race(contenders, options);
    reportRace(`misses of ${name}`, laps, [
      ["miss, stored", "passed through", { cpu: "2.5 at most", p99: "2 at most" }],
      ["miss, not stored", "passed through", { cpu: "2.5 at most", p99: "2 at most" }],
    ]);
    stopAll();
  }
};
