import { consoleFor } from "../../features/console/consoleFor.ts";
import { operatorsListener } from "../../../src/gateway/operators/app.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { asking, isProbeOfLegacy, listeningGateway } from "../http/support.ts";
import { httpUpstream } from "../proxy/support.ts";
import { until } from "../../support/waiting.ts";

export const [alice, mallory] = ["a".repeat(32), "b".repeat(32)];
export const minute = 60_000;
export const [json, xml] = ["/api/v1/json/data/61", "/api/v1/data/61"];

export const documents: Record<string, string> = {
  json: '{"data_set_description": {"id":"61", "name" : "iris","format":"ARFF","tag":["a"]} }',
  xml: '<oml:data_set_description xmlns:oml="http://openml.org/openml"><oml:id>61</oml:id><oml:name>iris</oml:name><oml:format>ARFF</oml:format></oml:data_set_description>',
};
export const error = (code: number) => `{"error":{"code":"${code}","message":"No"}}`;

export type Legacy = {
  /** `breaking`: it answers the gateway's probe alone. `silent`: it takes requests and answers none. */
  mode: "healthy" | "down" | "breaking" | "silent";
  asked: string[];
  seen: IncomingMessage[];
  /** Answers wait until it resolves. */
  gate?: Promise<void>;
  /** Requests that wait for their answer, and the most of them at a time. */
  running: number;
  most: number;
  error?: number;
  page?: string;
};

/** A legacy as the real one: it gives each client a session, answers `HEAD` with an error, and zips if it may. */
export const startLegacy = async (): Promise<Legacy & { url: string }> => {
  const legacy: Legacy = { mode: "healthy", asked: [], seen: [], running: 0, most: 0 };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (legacy.mode === "down" || (legacy.mode === "breaking" && !isProbeOfLegacy(request)))
      return void request.socket.destroy();
    if (legacy.mode === "silent") return;
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://legacy");
    const key = searchParams.get("api_key") ?? "";
    legacy.seen.push(request);
    legacy.asked.push(`${request.method} ${pathname}${key === "" ? "" : " with a key"}`);
    const type = pathname.includes("/json/") ? "application/json; charset=utf-8" : "text/xml; charset=utf-8";
    const send = (status: number, body: string, as = type) => {
      const isZipped = request.headers["accept-encoding"]?.includes("gzip") ?? false;
      response.writeHead(status, {
        "Content-Type": as,
        "Set-Cookie": "ci_session=secret; path=/",
        "Access-Control-Allow-Origin": "*",
        Expires: "Thu, 19 Nov 1981 08:52:00 GMT",
        ...(isZipped ? { "Content-Encoding": "gzip" } : {}),
      });
      response.end(isZipped ? gzipSync(body) : body);
    };
    if (key !== "" && key !== alice) return send(412, error(103));
    if (request.method === "HEAD") return send(412, "");
    if (request.method === "POST") return send(200, '{"data_tag":{"id":"61","tag":"a"}}');
    if (legacy.page !== undefined) return send(200, legacy.page, "text/html");
    if (legacy.error !== undefined) return send(412, error(legacy.error));
    if (pathname.includes("evaluationmeasure"))
      return send(200, '{"evaluation_measures":{"measures":{"measure":["kappa"]}}}');
    const id = /\/data\/(\d+)$/.exec(pathname)?.[1] ?? "61";
    return send(200, (documents[type.includes("json") ? "json" : "xml"] as string).replace("61", id));
  };
  return Object.assign(legacy, {
    url: await httpUpstream((request, response) => {
      legacy.most = Math.max(legacy.most, ++legacy.running);
      response.once("close", () => legacy.running--);
      request.resume().on("end", () => void Promise.resolve(legacy.gate).then(() => answer(request, response)));
    }),
  });
};

/** A gateway over such a legacy, and how to ask it. */
export const caching = async (environment: Record<string, string> = {}) =>
  cachingOver(await startLegacy(), environment);

/** The same over any legacy. */
export const cachingOver = async <L extends { url: string }>(legacy: L, environment: Record<string, string> = {}) => {
  const gateway = await listeningGateway(legacy.url, { CACHE_LEGACY: "all", ...environment }, { redisTimeout: 60_000 });
  const ask = asking(gateway.url);
  const tag = () =>
    ask(
      "/api/v1/json/data/tag",
      {},
      { method: "POST", body: new URLSearchParams({ api_key: alice, data_id: "61", tag: "b" }) },
    );
  let adminUrl: Promise<string> | undefined;
  /** Asks the operators' listener. */
  const see = async (path: string, init?: RequestInit) => {
    adminUrl ??= httpUpstream(operatorsListener(consoleFor(gateway)));
    return fetch((await adminUrl) + path, init);
  };
  return { ...gateway, legacy, ask, tag, see };
};

/** Has legacy be down. Resolves when three reads of records that are not stored have told the gateway. */
export const becomeDown = async ({ legacy, ask, core }: Awaited<ReturnType<typeof caching>>): Promise<void> => {
  legacy.mode = "down";
  for (let i = 0; i < 3; i++) await ask(`/api/v1/json/data/${100 + i}`);
  await until(() => core.outage.isOn());
};
