import { SERVER_CORE, UPSTREAM_CORE } from "./cores.ts";
import { datasetBody, listBody } from "./bodies.ts";
import { startGateway, thinCommand } from "./gateway.ts";
import { leftOut, reportMissingTools } from "./leftOut.ts";
import { startFixedAnswer } from "./peers/fixedAnswer.ts";
import { startNginx } from "./peers/nginx.ts";
import { isInstalled, start, stopAll } from "./processes.ts";
import { type BenchOptions, type Contender, race, reportRace } from "./race.ts";

const path = "/api/v1/json/data/301";

/**
 * The bodies, each with its aims. Thin is the gateway without features. The relay is undici in node:http alone: the
 * least work that Node needs.
 */
const cases = [
  {
    body: datasetBody(),
    aims: {
      thin: { cpu: "1.04 at most" },
      relay: { cpu: "1.35 at most" },
      nginx: { cpu: "5 at most" },
      "hono/proxy": { throughput: "3 or more" },
    },
  },
  { body: listBody(), aims: { thin: {}, relay: { cpu: "1 at most" }, nginx: {}, "hono/proxy": {} } },
];

/** Compares CPU per request and throughput of pass-through on one core with the installed peers. */
export const benchPassThrough = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  if (!isInstalled("nginx")) leftOut("nginx is not installed: no ratio to it");
  for (const { body, aims } of cases) {
    const upstream = await startFixedAnswer(UPSTREAM_CORE, body);
    const contender = (name: string, { url, pid }: { url: string; pid: number }): Contender => ({
      name,
      url: url + path,
      pid,
      status: 200,
      body,
    });
    /** Starts a peer that runs in Node. */
    const node = async (name: string, file: string): Promise<Contender> => {
      const command = [process.execPath, `bench/peers/${file}`];
      const { child, line } = await start(SERVER_CORE, command, /http:\/\/127\.0\.0\.1:\d+/, { UPSTREAM: upstream });
      return contender(name, { url: line, pid: child.pid as number });
    };
    const contenders = [
      contender("gateway", await startGateway(SERVER_CORE, upstream)),
      contender("thin", await startGateway(SERVER_CORE, upstream, {}, thinCommand)),
      await node("relay", "relay.js"),
      await node("hono/proxy", "honoProxy.js"),
    ];
    if (isInstalled("nginx")) contenders.push(contender("nginx", await startNginx(SERVER_CORE, { upstream })));
    reportRace(`pass-through of ${(body.length / 1000).toFixed(1)} KB`, await race(contenders, options), [
      ...Object.entries(aims).map(([peer, aim]) => ["gateway", peer, aim] as const),
      ["relay", "nginx"],
    ]);
    stopAll();
  }
};
