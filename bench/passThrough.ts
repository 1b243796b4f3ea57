import { SERVER_CORE, UPSTREAM_CORE } from "./cores.ts";
import { datasetBody } from "./bodies.ts";
import { leftOut, reportMissingTools } from "./leftOut.ts";
import { startFixedAnswer } from "./peers/fixedAnswer.ts";
import { startNginx } from "./peers/nginx.ts";
import { isInstalled, start } from "./processes.ts";
import { type BenchOptions, type Contender, race, reportRace } from "./race.ts";

const path = "/api/v1/json/data/301";
const address = /http:\/\/127\.0\.0\.1:\d+/;

/** Compares CPU per request and throughput of pass-through on one core with the installed peers. */
export const benchPassThrough = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  const body = datasetBody();
  const upstream = await startFixedAnswer(UPSTREAM_CORE, body);
  const contender = (name: string, { url, pid }: { url: string; pid: number }): Contender => ({
    name,
    url: url + path,
    pid,
    status: 200,
    body,
  });
  /** Starts a contender that runs in Node. */
  const node = async (name: string, file: string, env: Record<string, string>): Promise<Contender> => {
    const { child, line } = await start(SERVER_CORE, [process.execPath, file], address, env);
    return contender(name, { url: line, pid: child.pid as number });
  };
  const contenders = [
    await node("gateway", "src/main.ts", { LEGACY_URL: upstream, PORT: "0", ADMIN_PORT: "0" }),
    await node("hono/proxy", "bench/peers/honoProxy.js", { UPSTREAM: upstream }),
  ];
  if (isInstalled("nginx")) contenders.push(contender("nginx", await startNginx(SERVER_CORE, { upstream })));
  else leftOut("nginx is not installed: no ratio to it");
  reportRace(`pass-through of ${(body.length / 1000).toFixed(1)} KB`, await race(contenders, options), [
    ["gateway", "hono/proxy", { throughput: "3 or more" }],
    ["gateway", "nginx", { throughput: "0.27 or more" }],
  ]);
};
