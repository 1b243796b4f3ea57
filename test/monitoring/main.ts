import { execFileSync, type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSample } from "../../src/tools/sampleLegacy/openSample.ts";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { startStandIn } from "../standIn/program/startStandIn.ts";
import { trafficOf, type TrafficRequest } from "../standIn/program/traffic.ts";
import { freePort } from "../support/freePort.ts";
import { killPrograms, startProgram } from "../torture/lib/program.ts";
import { dashboardQueries, files, variableQueries } from "./queries.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const usage = `npm run check:monitoring [-- --help]

Starts the gateway, a legacy by TLS, a stand-in for the new implementation with a fault, Redis and a Prometheus that scrapes the gateway by
METRICS_TOKEN. Under traffic, every query of deploy/grafana.json has to give data, and every rule of deploy/alerts.yaml has to be evaluated.
Then legacy goes down, and its alert has to be pending. It needs prometheus, redis-server and openssl.
Exit code: 0 all went as it should, 1 not, 2 it could not run.`;

const TOKEN = "a-token-for-metrics";
const SECONDS = 25;
const directory = temporaryFolder();
const at = (name: string) => join(directory, name);
const children: ChildProcess[] = [];

const start = (program: string, args: string[]): void => {
  children.push(spawn(program, args, { cwd: directory, stdio: "ignore" }));
};

/** The sample legacy by TLS, with a certificate of its own. */
const startLegacy = async () => {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "90", ...subject];
  execFileSync("openssl", [...made, "-keyout", at("key.pem"), "-out", at("ca.pem")], { stdio: "pipe" });
  const answer = openSample({});
  const options = { key: readFileSync(at("key.pem")), cert: readFileSync(at("ca.pem")) };
  const server = createServer(
    options,
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
};

const startPrometheus = async (adminPort: number): Promise<string> => {
  const port = await freePort();
  writeFileSync(
    at("prometheus.yml"),
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${JSON.stringify(files.alerts)}]
scrape_configs:
  - job_name: catalog-gateway
    authorization: { credentials: ${TOKEN} }
    static_configs: [{ targets: ["127.0.0.1:${adminPort}"] }]
`,
  );
  const listen = `--web.listen-address=127.0.0.1:${port}`;
  start("prometheus", [`--config.file=${at("prometheus.yml")}`, `--storage.tsdb.path=${at("tsdb")}`, listen]);
  return `http://127.0.0.1:${port}/api/v1`;
};

type Sampled = { metric: Record<string, string>; value: [number, string] };

const openApi = (base: string) => {
  const api = async <T>(path: string, query: Record<string, string> = {}): Promise<T> => {
    const response = await fetch(`${base}/${path}?${new URLSearchParams(query).toString()}`);
    const { data, error } = (await response.json()) as { data: T; error?: string };
    if (error !== undefined) throw new Error(`${path} ${JSON.stringify(query)}: ${error}`);
    return data;
  };
  const variables: Record<string, string> = { $job: ".*", $instance: ".*", $__rate_interval: "10s" };
  const withVariables = (expr: string) => expr.replaceAll(/\$\w+/g, (name) => variables[name] ?? name);
  return {
    api,
    query: async (expr: string) => (await api<{ result: Sampled[] }>("query", { query: withVariables(expr) })).result,
    labelValues(definition: string) {
      const [, selector = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      return api<string[]>(`label/${label}/values`, { "match[]": withVariables(selector) });
    },
  };
};
type Api = ReturnType<typeof openApi>;

/** Requests to both interfaces until `isOver`. */
const ask = async (port: number, isOver: () => boolean): Promise<void> => {
  const base = `http://127.0.0.1:${port}`;
  const traffic = trafficOf(1, 1_000_000)[Symbol.iterator]();
  const work = async () => {
    while (!isOver()) {
      const { method, path, body, key, client } = traffic.next().value as TrafficRequest;
      const headers = {
        "User-Agent": client,
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      };
      const asked = [
        fetch(`${base}/v1${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
        fetch(`${base}/api/v1/json/data/61`),
        fetch(`${base}/api/v1/json/data/tag`, {
          method: "POST",
          body: new URLSearchParams({ data_id: "1", tag: "a" }),
        }),
      ];
      for (const answer of await Promise.all(asked)) await answer.arrayBuffer();
      await sleep(20);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
};

const wrong: string[] = [];
const check = (holds: boolean, what: string): void => {
  console.log(`${holds ? "held  " : "FAILED"} ${what}`);
  if (!holds) wrong.push(what);
};

/** Whether a query gives a number. */
const checkData = async ({ query, api, ...prometheus }: Api): Promise<void> => {
  for (const { panel, expr } of dashboardQueries()) {
    const samples = await query(expr);
    const hasData = samples.some(({ value: [, text] }) => Number.isFinite(Number(text)));
    check(hasData, `${panel}: ${samples.length} series${hasData ? "" : `, no number: ${expr}`}`);
  }
  for (const definition of variableQueries())
    check((await prometheus.labelValues(definition)).length > 0, `the variable ${definition} has values`);
  type Rules = { groups: { rules: { name: string; health: string; lastError?: string; type: string }[] }[] };
  const { groups } = await api<Rules>("rules");
  for (const { name, health, lastError = "" } of groups.flatMap(({ rules }) => rules))
    check(health === "ok", `the rule ${name} is evaluated ${lastError}`);
  for (const range of ["5m", "30m", "1h", "6h", "3d"])
    check((await query(`job:catalog_gateway_errors:ratio_rate${range}`)).length > 0, `errors of ${range} are recorded`);
  const { activeTargets } = await api<{ activeTargets: { health: string; lastError: string }[] }>("targets");
  for (const { health, lastError } of activeTargets) check(health === "up", `the gateway is scraped ${lastError}`);
};

const isPending = async ({ query }: Api, alert: string): Promise<boolean> => {
  for (let i = 0; i < 60; i++) {
    if ((await query(`ALERTS{alertname="${alert}"}`)).length > 0) return true;
    await sleep(500);
  }
  return false;
};

const run = async (): Promise<void> => {
  const legacy = await startLegacy();
  // It answers by a legacy of its own.
  const sample = await startSampleLegacy();
  const modern = await startStandIn({ legacyUrl: sample.url });
  const redisPort = await freePort();
  start("redis-server", ["--port", String(redisPort), "--save", ""]);
  modern.use([{ endpoint: "getSetup", fault: "lostEntry", path: "/setup_parameters/parameter" }]);
  const gate = { parity: 0.5, requests: 100_000 };
  const program = await startProgram({
    LEGACY_URL: legacy.url,
    LEGACY_CA: at("ca.pem"),
    MODERN_URL: modern.url,
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    DATA_DIR: at("data"),
    METRICS_TOKEN: TOKEN,
    STAGES: JSON.stringify({
      getDataset: { stage: "canary", share: 50, gate },
      getSetup: { stage: "shadow", share: 100 },
      findFlow: { stage: "modern", share: 100, gate },
    }),
  });
  const api = openApi(await startPrometheus(program.adminPort));
  let isOver = false;
  const asking = ask(program.port, () => isOver);
  await sleep(SECONDS * 500);
  const moved = await fetch(`http://127.0.0.1:${program.adminPort}/stages/getStudy`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ stage: "shadow", share: 100, why: "to see a move" }),
  });
  check(moved.ok, `getStudy is moved to shadow: ${moved.status}`);
  await sleep(SECONDS * 500);
  await checkData(api);
  legacy.stop();
  check(await isPending(api, "CatalogGatewayLegacyDown"), "legacy goes down: its alert is pending");
  isOver = true;
  await asking;
  await program.stop();
  await modern.close();
  await sample.close();
};

if (process.argv.includes("--help")) console.log(usage);
else {
  const missing = ["prometheus", "redis-server", "openssl"].filter((name) => spawnSync(name, ["--version"]).error);
  try {
    if (missing.length > 0) throw new Error(`${missing.join(", ")}: not installed`);
    await run();
    console.log(wrong.length === 0 ? "every query gives data, every rule is evaluated" : `${wrong.length} FAILED`);
    process.exitCode = wrong.length === 0 ? 0 : 1;
  } catch (error) {
    console.error(error);
    process.exitCode = 2;
  }
  for (const child of children) child.kill("SIGKILL");
  killPrograms();
  process.exit();
}
