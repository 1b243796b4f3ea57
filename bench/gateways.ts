import { freePort } from "../test/support/freePort.ts";
import { ask } from "./ask.ts";
import { datasetBody } from "./bodies.ts";
import { UPSTREAM_CORE } from "./cores.ts";
import { startGateway } from "./gateway.ts";
import { leftOut, reportMissingTools } from "./leftOut.ts";
import { startFixedAnswer } from "./peers/fixedAnswer.ts";
import { startNginx } from "./peers/nginx.ts";
import { isInstalled, start } from "./processes.ts";
import { type BenchOptions, type Contender, race, reportRace } from "./race.ts";

/** `{n}` stands for a number of each request's own. */
const kinds = [
  { name: "hits", path: "/v1/datasets/301" },
  { name: "misses", path: "/v1/datasets/{n}" },
  { name: "pass-through", path: "/api/v1/json/data/301" },
];

/**
 * One gateway and two, each behind an nginx, which share a Redis. They are pinned to no core, and nginx, Redis, the load generator and
 * the upstream use their cores too: two can be twice as fast only where there are more cores than these need. The CPU is nginx's.
 */
export const benchGateways = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  const missing = ["nginx", "redis-server"].filter((program) => !isInstalled(program));
  if (missing.length > 0) return leftOut(`${missing.join(" and ")}: two gateways are not compared with one`);
  const body = datasetBody();
  const upstream = await startFixedAnswer(UPSTREAM_CORE, body);
  const fronts = [];
  for (const count of [1, 2]) {
    const port = await freePort();
    const command = ["redis-server", "--port", String(port), "--bind", "127.0.0.1", "--save", ""];
    await start(undefined, command, /Ready to accept connections/);
    const upstreams: string[] = [];
    for (let i = 0; i < count; i++)
      upstreams.push((await startGateway(undefined, upstream, { REDIS_URL: `redis://127.0.0.1:${port}` })).url);
    fronts.push({ count, ...(await startNginx(undefined, { upstreams })) });
  }
  for (const { name, path } of kinds) {
    const contenders = await Promise.all(
      fronts.map(async ({ count, url, pid }): Promise<Contender> => {
        const answer = await ask((url + path).replace("{n}", "1"));
        return { name: `${name}, ${count}`, url: url + path, pid, status: 200, body: answer.bytes };
      }),
    );
    reportRace(`${name} with 1 and 2 gateways`, await race(contenders, options), [[`${name}, 2`, `${name}, 1`]]);
  }
};
