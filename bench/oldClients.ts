import { ask, askUntilAnswered } from "./ask.ts";
import { datasetBody } from "./bodies.ts";
import { SERVER_CORE, UPSTREAM_CORE } from "./cores.ts";
import { startGateway } from "./gateway.ts";
import { leftOut, reportMissingTools } from "./leftOut.ts";
import { startBare } from "./peers/fixedAnswer.ts";
import { startNginx } from "./peers/nginx.ts";
import { isInstalled, stopAll } from "./processes.ts";
import { type BenchOptions, type Contender, race, reportRace } from "./race.ts";

const path = "/api/v1/json/data/301";
const ours = "/v1/datasets/301";

/**
 * Compares hits of old clients on one core with hits of the new interface, with the pass-through and with nginx's
 * cache.
 */
export const benchOldClients = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  const body = datasetBody();
  const { url: legacy } = await startBare(UPSTREAM_CORE, body);
  const settings = { CACHE_LIFETIMES: JSON.stringify({ getDataset: { fresh: "1d" } }) };
  const caching = await startGateway(SERVER_CORE, legacy, { ...settings, CACHE_LEGACY: "all" });
  const passing = await startGateway(SERVER_CORE, legacy, settings);
  const answer = { status: 200, body };
  const hit = (name: string, asked: string, counter: string): Omit<Contender, "body"> => ({
    name,
    url: caching.url + asked,
    pid: caching.pid,
    status: 200,
    counted: () => caching.counted(counter, '"hit"'),
  });
  await ask(caching.url + path);
  await ask(caching.url + ours);
  const contenders: Contender[] = [
    { ...hit("old client's hit", path, "catalog_gateway_old_reads_total"), body },
    { ...hit("hit", ours, "catalog_gateway_cache_answers_total"), body: (await ask(caching.url + ours)).bytes },
    { name: "pass-through", url: passing.url + path, pid: passing.pid, ...answer },
  ];
  if (isInstalled("nginx")) {
    const nginx = await startNginx(SERVER_CORE, { upstream: legacy, isCached: true });
    await askUntilAnswered(nginx.url + path);
    contenders.push({ name: "nginx proxy_cache", url: nginx.url + path, pid: nginx.pid, ...answer });
  } else leftOut("nginx is not installed: no ratio to its proxy_cache");
  const title = `reads of ${(body.length / 1000).toFixed(1)} KB by old clients`;
  reportRace(title, await race(contenders, options), [
    ["old client's hit", "hit", { throughput: "0.9 or more" }],
    ["old client's hit", "pass-through"],
    ["old client's hit", "nginx proxy_cache"],
  ]);
  stopAll();
};
