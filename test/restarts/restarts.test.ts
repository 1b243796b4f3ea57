import { readFileSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startRedis } from "../libraries/stores/redis/redisServer.ts";
import { freePort } from "../support/freePort.ts";
import { type Program, startProgram } from "../support/program.ts";
import { startCommand, startNginx } from "../support/startCommand.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { sleep, until } from "../support/waiting.ts";
import { type AskOptions, ask } from "../torture/lib/client.ts";
import { openUpstream } from "../torture/lib/upstreams.ts";

/** Rolling restarts, of both gateways each. A restart takes a quarter of a minute. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 20);
/** Milliseconds for which nginx leaves a gateway alone after a failure (it counts whole seconds), and some more. */
const FAIL_TIMEOUT = 12_500;
/** Milliseconds until HAProxy uses a gateway that is ready again: two checks, and some more. */
const RISE = 3500;
const DRAIN_DELAY = 5000;

/** Clients of each balancer; half of them open a connection for each request. */
const CLIENTS = 8;
/** Milliseconds that a client waits between two requests, at most. */
const PAUSE_MS = 40;
/** Milliseconds that legacy takes for a POST, at most: so some are always in flight. */
const SLOW_MS = 60;

const measures = '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';
const tagged = '{"setup_tag":{"id":"1","tag":"a"}}';
const form = { "Content-Type": "application/x-www-form-urlencoded" };

type Kind = { name: string; path: string; options?: AskOptions; expected: string };
const list = "/v1/evaluationmeasures/list";
const kinds: readonly Kind[] = [
  { name: "hit", path: list, expected: '["kappa"]' },
  { name: "miss", path: list, options: { headers: { "Cache-Control": "no-store" } }, expected: '["kappa"]' },
  { name: "pass-through", path: "/api/v1/json/evaluationmeasure/list", expected: measures },
  {
    name: "POST",
    path: "/v1/setup/tag",
    options: { method: "POST", headers: { "X-API-Key": "0".repeat(32) }, body: '{"setup_id":1,"tag":"a"}' },
    expected: '{"setup_tag":{"id":1,"tag":["a"]}}',
  },
  {
    name: "proxied POST",
    path: "/api/v1/json/setup/tag",
    options: { method: "POST", headers: form, body: "a=b" },
    expected: tagged,
  },
];

type Ports = { port: number; adminPort: number };

/** Checks `/readyz` and never repeats a request. The lines of docs/operate.md, with ports of their own. */
const haproxyConfiguration = (port: number, gateways: readonly Ports[]): string => `
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  retries 0
  no option redispatch
frontend clients
  bind 127.0.0.1:${port}
  default_backend catalogue
backend catalogue
  option httpchk GET /readyz
  default-server check inter 1s fall 2 rise 2
${gateways.map(({ port: at, adminPort }, i) => `  server g${i} 127.0.0.1:${at} check port ${adminPort}`).join("\n")}
`;

/** Balancers by their names, with their ports; nginx with its defaults, and with connections that are used again. */
const startBalancers = async (gateways: readonly Ports[]) => {
  const [haproxy, plain, reused] = [await freePort(), await freePort(), await freePort()];
  const folder = temporaryFolder();
  writeFileSync(join(folder, "haproxy.cfg"), haproxyConfiguration(haproxy, gateways));
  await startCommand(folder, ["haproxy", "-db", "-f", "haproxy.cfg"], [haproxy]);
  const servers = gateways.map(({ port }) => `server 127.0.0.1:${port};`).join(" ");
  await startNginx(
    folder,
    `upstream plain { ${servers} }
     upstream reused { ${servers} keepalive 32; }
     server { listen 127.0.0.1:${plain}; location / { proxy_pass http://plain; } }
     server {
       listen 127.0.0.1:${reused};
       location / { proxy_pass http://reused; proxy_http_version 1.1; proxy_set_header Connection ""; }
     }`,
    [plain, reused],
  );
  const log = () => readFileSync(join(folder, "error.log"), "utf8").split("\n");
  return {
    balancers: { HAProxy: haproxy, nginx: plain, "nginx, keepalive": reused },
    problems: () => log().filter((line) => line.includes("[error]") && !line.includes("Connection refused")),
  };
};

/**
 * Sends requests of all kinds until `stop`. `sent` counts them by balancer and kind, `failures` says
 * the outcome of failed requests.
 */
const startLoad = (balancers: Record<string, number>) => {
  const sent: Record<string, number> = {};
  const failures: string[] = [];
  const over = new AbortController();
  const run = async (balancer: string, port: number, agent: Agent): Promise<void> => {
    while (!over.signal.aborted)
      for (const { name, path, options, expected } of kinds) {
        const { status, body } = await ask(port, path, { ...options, agent });
        const of = `${balancer}, ${name}`;
        sent[of] = (sent[of] ?? 0) + 1;
        const text = body.toString();
        if (status !== 200 || text !== expected)
          failures.push(`${of}: ${new Date().toISOString()} ${status} ${text.slice(0, 100)}`);
        await sleep(Math.random() * PAUSE_MS);
      }
  };
  const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: false })];
  const clients = Object.entries(balancers).flatMap(([name, port]) =>
    Array.from({ length: CLIENTS }, (_, i) => run(name, port, agents[i % 2] as Agent)),
  );
  const stop = async () => {
    over.abort();
    await Promise.all(clients);
  };
  return { sent, failures, stop };
};

test(
  "two gateways restart in turn behind HAProxy and nginx: no request fails",
  { timeout: 60_000 + ROUNDS * 60_000 },
  async () => {
    const legacy = await openUpstream(({ method }, response) => {
      if (method === "POST") setTimeout(() => response.end(tagged), Math.random() * SLOW_MS);
      else response.end(measures);
    });
    onTestFinished(() => legacy.close());
    const settings = {
      LEGACY_URL: legacy.url,
      DRAIN_DELAY_MS: String(DRAIN_DELAY),
      REDIS_URL: (await startRedis()).url,
      DOCUMENTS: "false",
      LOG_LEVEL: "error",
    };
    const start = async ({ port, adminPort }: Ports): Promise<Program> => {
      const program = await startProgram({ ...settings, PORT: String(port), ADMIN_PORT: String(adminPort) });
      await until(async () => (await ask(adminPort, "/readyz")).status === 200);
      return program;
    };
    const places: Ports[] = [];
    for (let i = 0; i < 2; i++) places.push({ port: await freePort(), adminPort: await freePort() });
    const programs: Program[] = [];
    for (const place of places) programs.push(await start(place));
    onTestFinished(() => Promise.all(programs.map(({ stop }) => stop())).then(() => undefined));
    const { balancers, problems } = await startBalancers(places);
    await sleep(RISE);
    const { sent, failures, stop } = startLoad(balancers);
    for (let restart = 0; restart < ROUNDS * places.length; restart++) {
      const i = restart % places.length;
      expect(await programs[i]?.stop()).toBe(0);
      programs[i] = await start(places[i] as Ports);
      // The port of the next one closes after the delay: until then both balancers must use this one again.
      await sleep(Math.max(RISE, FAIL_TIMEOUT - DRAIN_DELAY));
    }
    await stop();
    expect([failures, failures.length > 0 ? problems().slice(0, 10) : []]).toEqual([[], []]);
    expect(Object.keys(sent)).toHaveLength(kinds.length * Object.keys(balancers).length);
  },
);
