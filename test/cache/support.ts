import { gzipSync } from "node:zlib";
import { onTestFinished, vi } from "vitest";
import { listeningGateway } from "../http/support.ts";
import { httpUpstream } from "../proxy/support.ts";
import type { GatewayParts } from "../support/gateway.ts";

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

/** A legacy whose answers name the caller and a version: `alice 2`, or `nobody 1` without a key. */
export const scriptedLegacy = async () => {
  const legacy = {
    asked: [] as string[],
    mode: "healthy" as "healthy" | "erroring" | "down",
    version: 1,
    /** The only caller that may see answers. */
    privateTo: undefined as string | undefined,
    gone: false,
    good: new Set([alice, bob]),
    /** Answers wait until it resolves. */
    gate: undefined as Promise<void> | undefined,
    url: "",
  };
  const answer = (path: string, key: string | undefined): { status: number; body: unknown } => {
    const who = key === alice ? "alice" : key === bob ? "bob" : "nobody";
    const mark = `${who} ${legacy.version}`;
    if (legacy.privateTo !== undefined && legacy.privateTo !== key)
      return path.startsWith("/study/") ? error(602, "No access") : error(112, "No access granted");
    if (legacy.gone) return path.startsWith("/study/") ? error(601, "Unknown study") : error(111, "Unknown dataset");
    if (path.startsWith("/data/list"))
      return {
        status: 200,
        body: {
          data: {
            dataset: [{ did: 1, name: mark, version: 1, status: "active", format: "arff", file_id: 1, quality: [] }],
          },
        },
      };
    if (path.startsWith("/data/"))
      return {
        status: 200,
        body: {
          data_set_description: {
            id: path.slice(6),
            name: mark,
            format: "arff",
            ...(path === "/data/777" ? { description: "long ".repeat(300) } : {}),
          },
        },
      };
    if (path.startsWith("/setup/"))
      return {
        status: 200,
        body: {
          setup_parameters: {
            setup_id: path.slice(7),
            flow_id: "1",
            parameter: { id: "1", flow_id: "1", flow_name: mark },
          },
        },
      };
    if (path.startsWith("/study/")) return { status: 200, body: { study: { id: "99", name: mark } } };
    if (path.startsWith("/flow/exists"))
      return {
        status: 200,
        body: {
          flow_exists: { exists: "true", id: `${1 + ["nobody", "alice", "bob"].indexOf(who)}${legacy.version}` },
        },
      };
    if (path.startsWith("/estimationprocedure"))
      return {
        status: 200,
        body: { estimationprocedures: { estimationprocedure: { id: "1", ttid: "1", name: mark, type: "x" } } },
      };
    return { status: 200, body: { evaluation_measures: { measures: { measure: mark } } } };
  };
  legacy.url = await httpUpstream((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://legacy");
      const path = pathname.replace(/^\/api\/v1\/(json|xml)/, "");
      const inParts = /name="api_key"\r\n\r\n(\w+)/.exec(text)?.[1];
      const given = searchParams.get("api_key") ?? new URLSearchParams(text).get("api_key") ?? inParts;
      // Legacy ignores the case of keys.
      const key = given?.toLowerCase();
      legacy.asked.push(
        `${request.method} ${path}${key === undefined ? "" : ` as ${key === alice ? "alice" : key === bob ? "bob" : key}`}`,
      );
      const send = (status: number, type: string, body: string) =>
        response.writeHead(status, { "Content-Type": type }).end(body);
      if (legacy.mode === "down") request.socket.destroy();
      else if (legacy.mode === "erroring") void Promise.resolve(legacy.gate).then(() => send(500, "text/html", ""));
      else if (key === undefined ? request.method !== "GET" : !legacy.good.has(key)) {
        const refusal = xmlError(key === undefined ? 102 : 103, "Authentication failed");
        if (text.includes("zipped")) response.setHeader("Content-Encoding", "gzip");
        response.writeHead(412, { "Content-Type": "text/xml; charset=utf-8" });
        response.end(text.includes("zipped") ? gzipSync(refusal) : refusal);
      } else {
        // The state at the time of the request, even if the answer is late.
        const { status, body } =
          request.method === "GET" ? answer(path, key) : { status: 200, body: written(path, text) };
        void Promise.resolve(legacy.gate).then(() => send(status, "application/json", JSON.stringify(body)));
      }
    });
  });
  const written = (path: string, form: string): unknown => {
    legacy.version++;
    const fields = new URLSearchParams(form);
    const id = fields.get("data_id") ?? fields.get("setup_id") ?? "0";
    return { [path.slice(1).replace("/", "_")]: { id, tag: "a" } };
  };
  return legacy;
};

export type ScriptedLegacy = Awaited<ReturnType<typeof scriptedLegacy>>;

/** The cache's clock, which only `pass` advances. Sockets and their timers run as always. */
export const clock = () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: new Date("2026-11-21T12:00:00Z") });
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
  return { ...gateway, legacy, ask, as, post };
};

/** The caller that an answer was made for, and its version: `nobody 1`. */
export const markOf = (body: string): string => {
  const [, flow] = /"flow_id":([123]\d+)\}$/.exec(body) ?? [];
  if (flow !== undefined) return `${["nobody", "alice", "bob"][Number(flow[0]) - 1]} ${flow.slice(1)}`;
  return /(nobody|alice|bob) \d+/.exec(body)?.[0] ?? "none";
};

/** A promise and its end. */
export const held = () => {
  let release = () => {};
  const promise = new Promise<void>((resolve) => (release = resolve));
  return { promise, release };
};
