import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSample } from "../../tools/sampleLegacy/openSample.ts";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { startStandIn } from "../standIn/startStandIn.ts";
import { sendTraffic } from "../standIn/traffic.ts";
import { startRedis } from "../libraries/stores/redis/redisServer.ts";
import { freePort } from "../support/freePort.ts";
import { startProgram } from "../support/program.ts";
import { startCommand } from "../support/startCommand.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { sleep, until } from "../support/waiting.ts";
import { dashboardQueries, files, variableQueries } from "./queries.ts";

/** The seconds for which Prometheus scrapes the gateway before the first query; rates need some twenty. */
const SECONDS = Number(process.env["SECONDS"] ?? 25);
const TOKEN = "a-token-for-metrics";

/** The sample legacy by TLS, with a certificate of its own in this folder. */
const startTlsLegacy = async (folder: string) => {
  const at = (name: string) => join(folder, name);
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "90", ...subject];
  execFileSync("openssl", [...made, "-keyout", at("key.pem"), "-out", at("ca.pem")], { stdio: "pipe" });
  const answer = openSample({});
  const options = { key: readFileSync(at("key.pem")), cert: readFileSync(at("ca.pem")) };
  const server = createServer(options, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(stop);
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: at("ca.pem"), stop };
};

const startPrometheus = async (folder: string, adminPort: number): Promise<string> => {
  const port = await freePort();
  writeFileSync(
    join(folder, "prometheus.yml"),
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${JSON.stringify(files.alerts)}]
scrape_configs:
  - job_name: catalog-gateway
    authorization: { credentials: ${TOKEN} }
    static_configs: [{ targets: ["127.0.0.1:${adminPort}"] }]
`,
  );
  const listen = `--web.listen-address=127.0.0.1:${port}`;
  await startCommand(
    folder,
    ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", listen],
    [port],
  );
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
    labelValues: (definition: string) => {
      const [, selector = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      return api<string[]>(`label/${label}/values`, { "match[]": withVariables(selector) });
    },
  };
};

/** A gateway with all that has metrics, under traffic until `stop`. */
const meteredGateway = async (folder: string) => {
  const legacy = await startTlsLegacy(folder);
  // It answers by a legacy of its own.
  const sample = await startSampleLegacy();
  const modern = await startStandIn({
    legacyUrl: sample.url,
    faults: [{ endpoint: "getSetup", fault: "lostEntry", path: "/setup_parameters/parameter" }],
  });
  const gate = { parity: 0.5, requests: 5000 };
  const program = await startProgram({
    LEGACY_URL: legacy.url,
    LEGACY_CA: legacy.ca,
    CACHE_LEGACY: "all",
    MODERN_URL: modern.url,
    REDIS_URL: (await startRedis()).url,
    DATA_DIR: join(folder, "data"),
    METRICS_TOKEN: TOKEN,
    LOG_LEVEL: "error",
    STAGES: JSON.stringify({
      getDataset: { stage: "canary", share: 50, gate },
      getSetup: { stage: "shadow", share: 100 },
      findFlow: { stage: "modern", share: 100, gate },
    }),
  });
  const over = new AbortController();
  const sending = sendTraffic(`http://127.0.0.1:${program.port}`, 20, over.signal, (send, count) => {
    // A miss each: the cache does not have it yet.
    if (count % 10 === 0) send(`/api/v1/json/data/${count}`);
    const body = new URLSearchParams({ data_id: "1", tag: "a" });
    if (count % 10 === 5) send("/api/v1/json/data/tag", { method: "POST", body });
  });
  onTestFinished(async () => {
    over.abort();
    await sending;
    await program.stop();
    await modern.close();
    await sample.close();
  });
  return { ...program, stopLegacy: legacy.stop };
};

test(
  "under traffic every query and rule has data; a legacy that is down alerts",
  { timeout: 120_000 + SECONDS * 1000 },
  async () => {
    const folder = temporaryFolder();
    const { adminPort, stopLegacy } = await meteredGateway(folder);
    const { api, query, labelValues } = openApi(await startPrometheus(folder, adminPort));
    await sleep(SECONDS * 500);
    const moved = await fetch(`http://127.0.0.1:${adminPort}/stages/getStudy`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ stage: "shadow", share: 100, by: "a test", why: "to see a move" }),
    });
    expect(moved.status).toBe(200);
    await sleep(SECONDS * 500);

    for (const { panel, expr } of dashboardQueries()) {
      const samples = await query(expr);
      const hasData = samples.some(({ value: [, text] }) => Number.isFinite(Number(text)));
      expect.soft([panel, hasData ? "" : expr]).toEqual([panel, ""]);
    }
    for (const definition of variableQueries())
      expect.soft((await labelValues(definition)).length, definition).toBeGreaterThan(0);
    type Rules = { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
    for (const { rules } of (await api<Rules>("rules")).groups)
      for (const { name, health, lastError } of rules)
        expect.soft([name, health, lastError ?? ""]).toEqual([name, "ok", ""]);
    for (const range of ["5m", "30m", "1h", "6h", "3d"])
      expect.soft([range, (await query(`job:catalog_gateway_errors:ratio_rate${range}`)).length]).toEqual([range, 1]);
    type Targets = { activeTargets: { health: string; lastError: string }[] };
    expect((await api<Targets>("targets")).activeTargets).toMatchObject([{ health: "up", lastError: "" }]);

    stopLegacy();
    await until(async () => (await query('ALERTS{alertname="CatalogGatewayLegacyDown"}')).length > 0, 60_000);
  },
);
