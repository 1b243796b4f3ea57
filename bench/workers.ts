import { ask } from "./ask.ts";
import { datasetBody } from "./bodies.ts";
import { UPSTREAM_CORE } from "./cores.ts";
import { startGateway } from "./gateway.ts";
import { reportMissingTools } from "./leftOut.ts";
import type { BenchOptions } from "./options.ts";
import { startFixedAnswer } from "./peers/fixedAnswer.ts";
import { stopAll } from "./processes.ts";
import { type Contender, race, reportRace } from "./race.ts";

/** `{n}` stands for a number of each request's own. */
const kinds = [
  { name: "hits", path: "/v1/datasets/301" },
  { name: "hits, a connection each", path: "/v1/datasets/301", headers: { Connection: "close" } },
  { name: "misses", path: "/v1/datasets/{n}" },
  { name: "pass-through", path: "/api/v1/json/data/301" },
];

/**
 * Hits, misses and pass-through of one worker and of two. The gateways are pinned to no core, and the load generator and the upstream use
 * one of their cores: two workers can be twice as fast only where there are more cores than these need.
 */
export const benchWorkers = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  const body = datasetBody();
  const upstream = await startFixedAnswer(UPSTREAM_CORE, body);
  const gateways = [];
  for (const workers of ["1", "2"])
    gateways.push({ workers, ...(await startGateway(undefined, upstream, { WORKERS: workers })) });
  for (const { name, path, headers } of kinds) {
    const contenders = await Promise.all(
      gateways.map(async ({ workers, url, pid }): Promise<Contender> => {
        const answer = await ask((url + path).replace("{n}", "1"));
        return {
          name: `${name}, ${workers}`,
          url: url + path,
          pid,
          ...(headers ? { headers } : {}),
          status: 200,
          body: answer.bytes,
        };
      }),
    );
    reportRace(`${name} with 1 and 2 workers`, await race(contenders, options), [[`${name}, 2`, `${name}, 1`]]);
  }
  stopAll();
};
