import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished, vi } from "vitest";
import type { SharedTier } from "../../../src/gateway/cache/sharedTier.ts";
import { isProbeOfLegacy, listeningGateway } from "../http/support.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import { valueOf } from "../../support/metrics.ts";

export const alice = "a".repeat(32);
export const bob = "b".repeat(32);

/** A path of each endpoint whose answers are cached. */
export const kept = {
  getDataset: "/v1/datasets/61",
  listDatasets: "/v1/data/list/limit/5",
  getSetup: "/v1/setup/3",
  getStudy: "/v1/studies/99",
  findFlow: "/v1/flow/exists/sample.ZeroRule/Sample_1.0/",
  listEstimationProcedures: "/v1/estimationprocedure/list",
  listEvaluationMeasures: "/v1/evaluationmeasures/list",
};

const error = (code: number, message: string) => ({ status: 412, body: { error: { code: String(code), message } } });
const xmlError = (code: number, message: string) =>
  `<oml:error xmlns:oml="http://openml.org/openml"><oml:code>${code}</oml:code><oml:message>${message}</oml:message></oml:error>`;

/** Codings that a server in front of legacy may apply to its answers. */
const coders: Record<string, (text: string) => Buffer> = {
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  zstd: zstdCompressSync,
};

const people = ["nobody", "alice", "bob"];

/** Legacy's documents by the beginning of their path. `name`: the caller and the version, as `alice 2`. */
const documents: Record<string, (name: string, id: string) => object> = {
  "/data/list": (name) => ({
    data: { dataset: [{ did: 1, name, version: 1, status: "active", format: "arff", file_id: 1, quality: [] }] },
  }),
  "/data/": (name, id) => {
    const long = id === "777" ? { description: "long ".repeat(300) } : {};
    return { data_set_description: { id, name, format: "arff", ...long } };
  },
  "/setup/": (name, id) => ({
    setup_parameters: { setup_id: id, flow_id: "1", parameter: { id: "1", flow_id: "1", flow_name: name } },
  }),
  "/study/": (name) => ({ study: { id: "99", name } }),
  "/flow/exists": (name) => {
    const [who = "", version] = name.split(" ");
    return { flow_exists: { exists: "true", id: `${1 + people.indexOf(who)}${version}` } };
  },
  "/estimationprocedure": (name) => ({
    estimationprocedures: { estimationprocedure: { id: "1", ttid: "1", name, type: "x" } },
  }),
  "/evaluationmeasure": (name) => ({ evaluation_measures: { measures: { measure: name } } }),
};

/**
 * A legacy whose answers name the caller and a version: `alice 2`; without a key `nobody 1`.
 * `close` ends it at once.
 */
export const scriptedLegacy = async (address = "127.0.0.1") => {
  const legacy = {
    /** Without the gateway's probes. */
    asked: [] as string[],
    /**
     * `erroring`: each answer but that to the probe is an empty 500. `continuing`: a 100 that was not asked for stands
     * before each answer.
     */
    mode: "healthy" as "healthy" | "erroring" | "down" | "continuing",
    version: 1,
    /** The only caller that may see answers. */
    privateTo: undefined as string | undefined,
    gone: false,
    good: new Set([alice, bob]),
    /** Answers wait until it resolves. */
    gate: undefined as Promise<void> | undefined,
    /** Answers every request but a GET. */
    page: undefined as { status: number; type: string; body: string } | undefined,
    url: "",
    close: async () => {},
    /** Holds the answers to requests from now on; the result lets them go. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      legacy.gate = promise;
      return resolve;
    },
  };
  const answer = (path: string, key: string | undefined): { status: number; body: unknown } => {
    const isStudy = path.startsWith("/study/");
    if (legacy.privateTo !== undefined && legacy.privateTo !== key)
      return error(isStudy ? 602 : 112, "No access granted");
    if (legacy.gone) return error(isStudy ? 601 : 111, "Unknown");
    const [, document] = Object.entries(documents).find(([beginning]) => path.startsWith(beginning)) ?? [];
    const who = key === alice ? "alice" : key === bob ? "bob" : "nobody";
    return { status: 200, body: document?.(`${who} ${legacy.version}`, path.split("/")[2] ?? "") };
  };
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://legacy");
      const path = pathname.replace(/^\/api\/v1\/(json|xml)/, "");
      const inParts = /name="api_key"\r\n\r\n(\w+)/.exec(text)?.[1];
      const given = searchParams.get("api_key") ?? new URLSearchParams(text).get("api_key") ?? inParts;
      // Legacy ignores the case of keys.
      const key = given?.toLowerCase();
      const isProbe = isProbeOfLegacy(request);
      if (!isProbe)
        legacy.asked.push(
          `${request.method} ${path}${key === undefined ? "" : ` as ${key === alice ? "alice" : key === bob ? "bob" : key}`}`,
        );
      if (legacy.mode === "continuing") response.writeContinue();
      const send = (status: number, type: string, body: string) =>
        response.writeHead(status, { "Content-Type": type }).end(body);
      if (legacy.page && request.method !== "GET") send(legacy.page.status, legacy.page.type, legacy.page.body);
      else if (legacy.mode === "down") request.socket.destroy();
      else if (legacy.mode === "erroring" && !isProbe)
        void Promise.resolve(legacy.gate).then(() => send(500, "text/html", ""));
      else if (key === undefined ? request.method !== "GET" : !legacy.good.has(key)) {
        const refusal = xmlError(key === undefined ? 102 : 103, "Authentication failed");
        const coding = new URLSearchParams(text).get("coded") ?? "";
        const coded = coders[coding]?.(refusal);
        if (coded) response.setHeader("Content-Encoding", coding);
        response.writeHead(412, { "Content-Type": "text/xml; charset=utf-8" });
        response.end(coded ?? refusal);
      } else {
        // The state at the time of the request, even if the answer is late.
        const { status, body } =
          request.method === "GET" ? answer(path, key) : { status: 200, body: written(path, text) };
        void Promise.resolve(legacy.gate).then(() => send(status, "application/json", JSON.stringify(body)));
      }
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, address, resolve));
  legacy.url = `http://${address}:${(server.address() as AddressInfo).port}`;
  legacy.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(legacy.close);
  const written = (path: string, form: string): unknown => {
    legacy.version++;
    const fields = new URLSearchParams(form);
    const id = fields.get("data_id") ?? fields.get("setup_id") ?? "0";
    return { [path.slice(1).replace("/", "_")]: { id, tag: "a" } };
  };
  return legacy;
};

export type ScriptedLegacy = Awaited<ReturnType<typeof scriptedLegacy>>;

/**
 * The cache's clock, which only `pass` advances. Sockets and their timers run as always, except
 * `timers`, which it advances too.
 */
export const clock = (timers: ("setTimeout" | "clearTimeout" | "setInterval")[] = []) => {
  vi.useFakeTimers({ toFake: ["Date", "performance", ...timers], now: new Date("2026-11-21T12:00:00Z") });
  onTestFinished(() => void vi.useRealTimers());
  // lru-cache reads a time of 0 as unset.
  vi.advanceTimersByTime(1000);
  return { pass: (ms: number) => void vi.advanceTimersByTime(ms) };
};

/** A gateway over a scripted legacy, and how to ask it over a socket. */
export const cachedGateway = async (
  environment: Record<string, string> = {},
  given?: ScriptedLegacy,
  parts: GatewayParts = {},
) => {
  const legacy = given ?? (await scriptedLegacy());
  const gateway = await listeningGateway(legacy.url, environment, parts);
  const ask = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
    const response = await fetch(gateway.url + path, {
      ...init,
      headers: { "Accept-Encoding": "identity", Connection: "close", ...headers },
    });
    const body = await response.text();
    return {
      status: response.status,
      body,
      headers: response.headers,
      how: response.headers.get("cache-status")?.replace("catalog-gateway; ", "") ?? "",
    };
  };
  const as = (key: string) => ({ "X-API-Key": key });
  const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    ask(path, { "Content-Type": "application/json", ...headers }, { method: "POST", body: JSON.stringify(json) });
  /** The number of clients that are connected. */
  const clients = () => valueOf(gateway.core.meter, "client_connections");
  return { ...gateway, legacy, ask, as, post, clients };
};

const paths = { ...kept, otherDataset: "/v1/datasets/62", otherSetup: "/v1/setup/4" };
/** The names of the answers that a filled gateway has cached. */
export type CachedName = keyof typeof paths;

/** A gateway that has cached an answer of each path. `invalidated` names those that it would not serve as they are. */
export const filledGateway = async (...about: Parameters<typeof cachedGateway>) => {
  const gateway = await cachedGateway(...about);
  const entries = Object.entries(paths) as [CachedName, string][];
  for (const [, path] of entries) await gateway.ask(path);
  const invalidated = async (): Promise<CachedName[]> => {
    const answers = entries.map(([, path]) => gateway.ask(path, { "Cache-Control": "only-if-cached" }));
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    return entries.flatMap(([name], i) => (statuses[i] === 504 ? [name] : [])).toSorted();
  };
  return { ...gateway, invalidated };
};

/** The caller that an answer was made for, and its version: `nobody 1`. */
export const markOf = (body: string): string => {
  const [, flow] = /"flow_id":([123]\d+)\}$/.exec(body) ?? [];
  if (flow !== undefined) return `${people[Number(flow[0]) - 1]} ${flow.slice(1)}`;
  return /(nobody|alice|bob) \d+/.exec(body)?.[0] ?? "none";
};

/** An empty shared tier, except for the members that the test gives. */
export const tierWith = (tier: Partial<SharedTier>): SharedTier => ({
  trusted: () => true,
  mark: () => "a",
  get: async () => undefined,
  set: () => undefined,
  invalidate: async () => true,
  close: async () => undefined,
  ...tier,
});

/** The number of requests that have waited for the fetch of another request. */
export const coalesced = async ({ meter }: Awaited<ReturnType<typeof cachedGateway>>["core"]) => {
  const events = (await meter.read()).find(({ name }) => name === "catalog_gateway_cache_events_total");
  const values = events?.values.filter(({ labels }) => labels["event"] === "coalesced") ?? [];
  return values.reduce((sum, { value }) => sum + value, 0);
};
