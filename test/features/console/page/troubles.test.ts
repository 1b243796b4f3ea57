import { get } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { readOutage } from "../../../../tools/sampleLegacy/outages.ts";
import { startSampleLegacy } from "../../../../tools/sampleLegacy/startSampleLegacy.ts";
import { keys } from "../../../gateway/answer/support.ts";
import { clock } from "../../../gateway/cache/support.ts";
import { listeningGateway } from "../../../gateway/http/support.ts";
import { httpUpstream, rawUpstream, send } from "../../../gateway/proxy/support.ts";
import { freePort } from "../../../support/freePort.ts";
import { until } from "../../../support/waiting.ts";
import { startSample } from "../../../gateway/oldReads/sample.ts";
import { cachingOver, startLegacy } from "../../../gateway/oldReads/support.ts";
import { headOf, operatorsOf, shown, trafficOf } from "./operators.ts";

const MINUTE = 60_000;

type Gateway = Awaited<ReturnType<typeof listeningGateway>>;

/** The operators' page of a gateway: its head, a trouble's text, and the figures of the traffic. */
const pageOf = async (gateway: Gateway) => {
  const { markup } = await operatorsOf({ gateway });
  return {
    head: async () => headOf(await markup()),
    trouble: async (name: string) => shown(await markup(), "trouble").find(({ trouble }) => trouble === name)?.["text"],
    traffic: async () => trafficOf(await markup()),
  };
};

/** A gateway with a cache over any legacy, and its page. */
const watching = async <L extends { url: string }>(legacy: L) => {
  const gateway = await cachingOver(legacy);
  return { ...gateway, ...(await pageOf(gateway)) };
};

const startWhole = async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  return legacy;
};

test("three misses that fail are errors of clients, although the cache still answers", async () => {
  const { ask, head, traffic, legacy, core } = await watching(await startWhole());
  await ask("/api/v1/json/data/61");
  expect(await head()).toEqual({ verdict: "calm", lights: { Legacy: "ok" }, troubles: {}, figures: [1, 0] });
  await fetch(`${legacy.url}/outage/database`, { method: "POST" });
  for (const id of [2, 3, 4]) await ask(`/api/v1/json/data/${id}`);
  await until(() => core.outage.isOn());
  expect((await ask("/api/v1/json/data/61")).status).toBe(200);
  expect(await head()).toEqual({
    verdict: "harm",
    lights: { Legacy: "failing" },
    troubles: { legacy: "now" },
    figures: [5, 3],
  });
  expect(await traffic()).toContainEqual(["getDataset", "5", "20 %", "3"]);
});

const website = () =>
  httpUpstream((_, response) =>
    response.setHeader("Content-Type", "text/html").end("<html><head><title>Welcome!</title></head></html>"),
  );

test.each<[what: string, url: () => Promise<string>, reason: string]>([
  ["no server", async () => `http://127.0.0.1:${await freePort()}`, "refused"],
  ["a server without TLS", async () => (await website()).replace("http", "https"), "TLS"],
  ["another protocol", async () => (await rawUpstream((socket) => socket.end("SSH-2.0-x\r\n"))).origin, "HTTP"],
  ["another website", website, "Welcome!"],
])("a LEGACY_URL that leads to %s is a trouble that asks whether it is right", async (_, urlOf, reason) => {
  const url = await urlOf();
  const gateway = await listeningGateway(url);
  const { trouble } = await pageOf(gateway);
  for (const id of [2, 3, 4]) await fetch(`${gateway.url}/v1/datasets/${id}`);
  await until(() => gateway.core.outage.isOn());
  for (const part of [reason, `LEGACY_URL (${url})`]) expect(await trouble("legacy")).toContain(part);
});

test("once legacy has answered, no trouble asks whether LEGACY_URL is right", async () => {
  const port = await freePort();
  const gateway = await listeningGateway(`http://127.0.0.1:${port}`);
  const { trouble } = await pageOf(gateway);
  const fail = async () => {
    await fetch(`${gateway.url}/api/v1/json/data/61`);
    await until(() => gateway.core.outage.isOn());
    return trouble("legacy");
  };
  expect(await fail()).toContain("LEGACY_URL");
  const legacy = await startSampleLegacy({ port });
  await until(() => !gateway.core.outage.isOn());
  await legacy.close();
  expect(await fail()).not.toContain("LEGACY_URL");
});

test("a front that refuses the gateway is a trouble of its own, with the status", async () => {
  const { ask, head, trouble } = await watching(await startSample({ outage: readOutage("page-403") }));
  for (const id of [2, 3, 4]) await ask(`/api/v1/json/data/${id}`);
  await until(async () => (await head()).troubles["refusing"] === "now");
  expect(await trouble("refusing")).toContain("403");
});

test.each([
  ["page-504/data/features", "ill"],
  ["empty-500/data/features", "unreadable"],
])("an endpoint that fails alone is named until it is well: %s is %s", async (outage, name) => {
  const { pass } = clock(["setInterval"]);
  const { ask, head, trouble, traffic, legacy } = await watching(await startSample({ outage: readOutage(outage) }));
  for (const id of [1, 2, 3]) await ask(`/api/v1/json/data/features/${id}`);
  expect(await head()).toMatchObject({ verdict: "harm", lights: { Legacy: name }, troubles: { [name]: "now" } });
  expect(await trouble(name)).toContain("getDatasetFeatures 3");
  expect(await traffic()).toContainEqual(["getDatasetFeatures", "3", "0 %", "3"]);
  await fetch(`${legacy.direct}/outage`, { method: "DELETE" });
  pass(MINUTE + 5000);
  expect(await head()).toMatchObject({ verdict: "over", lights: { Legacy: name }, troubles: { [name]: "over" } });
  pass(5 * MINUTE);
  expect(await head()).toMatchObject({ verdict: "over", lights: { Legacy: "ok" }, troubles: {} });
  pass(60 * MINUTE);
  expect(await head()).toMatchObject({ verdict: "calm" });
});

test.each([403, 429])("a client that a front answers %i is no failure of an endpoint", async (status) => {
  const legacy = await startWhole();
  const front = await httpUpstream((request, response) => {
    const isRefused = String(request.headers["x-forwarded-for"]).startsWith("192.0.2.9");
    if (isRefused) response.writeHead(status, { "Content-Type": "text/html" }).end("<html><h1>Not you</h1></html>");
    else
      get(`${legacy.url}${request.url}`, (given) =>
        given.pipe(response.writeHead(given.statusCode ?? 500, given.headers)),
      );
  });
  const gateway = await listeningGateway(front, { TRUSTED_PROXIES: "127.0.0.1" });
  const { head } = await pageOf(gateway);
  const ask = async (id: number, address: string) =>
    (await fetch(`${gateway.url}/v1/datasets/${id}`, { headers: { "X-Forwarded-For": address } })).status;
  for (const id of [2, 3]) {
    expect(await ask(id, "192.0.2.9")).toBeGreaterThan(500);
    expect(await ask(61, "192.0.2.1")).toBe(200);
  }
  for (const id of [4, 5, 6]) await ask(id, "192.0.2.9");
  expect(gateway.core.observer.counts()["legacy_refused_client getDataset"]).toBe(5);
  expect((await head()).troubles).toEqual({});
});

test.each(["", `?api_key=${keys.owner}`])("an endpoint whose lists lack all rows is named: %j", async (query) => {
  const { pass } = clock(["setInterval"]);
  const { ask, head, trouble, legacy, core } = await watching(await startWhole());
  const lists = [1, 2, 3].map((limit) => `/api/v1/json/task/list/limit/${limit}${query}`);
  for (const list of lists) await ask(list);
  await fetch(`${legacy.url}/outage/temporary-disk-full`, { method: "POST" });
  pass(2 * MINUTE);
  for (const list of lists) expect((await ask(list)).status).toBe(200);
  await until(() => core.observer.counts()["empty_list listTasks"] === 3);
  expect(await head()).toMatchObject({ verdict: "unharmed", troubles: { incomplete: "now" } });
  expect(await trouble("incomplete")).toContain("listTasks 3");
});

test("three slow answers are a trouble if over 5 % of an endpoint's answers are slow", async () => {
  const { pass } = clock(["setInterval"]);
  const { ask, head, trouble, legacy } = await watching(await startLegacy());
  /** `count` misses that take `ms` each; `first`: the first id. */
  const miss = async (count: number, first: number, ms: number): Promise<void> => {
    const gate = Promise.withResolvers<void>();
    legacy.gate = gate.promise;
    const answers = Array.from({ length: count }, (_, i) => ask(`/api/v1/json/data/${first + i}`));
    await until(() => legacy.running === count);
    pass(ms);
    gate.resolve();
    await Promise.all(answers);
  };
  await Promise.all(Array.from({ length: 100 }, (_, i) => ask(`/api/v1/json/task/${100 + i}`)));
  await miss(18, 100, 0);
  await miss(2, 200, 6000);
  expect((await head()).troubles).not.toHaveProperty("slow");
  await miss(1, 202, 6000);
  expect(await head()).toMatchObject({ verdict: "unharmed", troubles: { slow: "now" } });
  expect(await trouble("slow")).toContain("getDataset 3");
  pass(6 * MINUTE);
  expect(await head()).toMatchObject({ verdict: "calm", troubles: {} });
});

test("slow answers to pass-through requests count for the pass-through alone", async () => {
  const { pass } = clock(["setInterval"]);
  const waiting: (() => void)[] = [];
  const url = await httpUpstream(({ url: asked = "" }, response) => {
    if (asked.endsWith("/7")) waiting.push(() => void response.end("{}"));
    else response.end("{}");
  });
  const gateway = await listeningGateway(url);
  const ask = async (id: number) => (await fetch(`${gateway.url}/api/v1/json/data/${id}`)).arrayBuffer();
  const { head, trouble } = await pageOf(gateway);
  const miss = async (quick: number): Promise<void> => {
    await Promise.all(Array.from({ length: quick }, () => ask(61)));
    const slow = [1, 2, 3].map(() => ask(7));
    await until(() => waiting.length === 3);
    pass(6000);
    for (const answer of waiting.splice(0)) answer();
    await Promise.all(slow);
  };
  await miss(100);
  expect((await head()).verdict).toBe("calm");
  await miss(0);
  expect(await trouble("slow")).toContain("getDataset 6");
});

test("a failure or two are no alarm, and are not hidden for five minutes", async () => {
  const { pass } = clock(["setInterval"]);
  const { ask, head, legacy, core } = await watching(await startWhole());
  await ask("/api/v1/json/data/61");
  await fetch(`${legacy.url}/outage/database`, { method: "POST" });
  core.dependencies.add("thing", { trouble: "A thing has been failing", effect: "" })(false, "it is gone");
  expect((await head()).verdict).toBe("unharmed");
  await ask("/api/v1/json/data/2");
  expect((await head()).verdict).toBe("few");
  pass(2 * MINUTE);
  expect((await head()).verdict).toBe("few");
  pass(5 * MINUTE);
  expect((await head()).verdict).toBe("unharmed");
});

test("requests that find no room are errors, and a trouble", async () => {
  const release = Promise.withResolvers<void>();
  let running = 0;
  const url = await httpUpstream((_, response) => {
    running++;
    void release.promise.then(() => response.end("{}"));
  });
  const gateway = await listeningGateway(url, { MAX_CONNECTIONS: "1" }, { waiting: 0 });
  const { head, trouble } = await pageOf(gateway);
  const first = fetch(`${gateway.url}/api/v1/json/data/61`);
  await until(() => running === 1);
  for (const id of [62, 63, 64]) expect((await fetch(`${gateway.url}/api/v1/json/data/${id}`)).status).toBe(503);
  expect(await head()).toMatchObject({ verdict: "harm", figures: [3, 3], troubles: { full: "now" } });
  for (const part of ["getDataset 3", "MAX_CONNECTIONS"]) expect(await trouble("full")).toContain(part);
  release.resolve();
  await first;
});

/** A legacy that answers reads, and breaks off its answers to writes behind their head. */
const startCutting = () =>
  httpUpstream(({ method }, response) => {
    response.setHeader("Content-Type", "application/json");
    if (method === "GET") response.end("{}");
    else response.setHeader("Content-Length", 1000).write("{", () => response.destroy());
  });

test("an answer that legacy breaks off behind its head is an error", async () => {
  const gateway = await listeningGateway(await startCutting());
  const { head, trouble, traffic } = await pageOf(gateway);
  for (let i = 0; i < 3; i++) {
    const body = "data_id=61&tag=a";
    const answer = await fetch(`${gateway.url}/api/v1/json/data/tag`, { method: "POST", body });
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow("terminated");
    await (await fetch(`${gateway.url}/api/v1/json/data/61`)).text();
  }
  await until(() => gateway.core.traffic.others().length === 2);
  expect(await head()).toMatchObject({ verdict: "harm", figures: [6, 3], troubles: { cut: "now" } });
  expect(await trouble("cut")).toContain(" 3 in ");
  expect(await traffic()).toContainEqual(["writes of old clients", "3", "–", "3"]);
});

test("a request that is malformed, or broken off by its client, is no error", async () => {
  const url = await httpUpstream((_, response) => void response.writeHead(200, { "Content-Length": 1000 }).write("{"));
  const gateway = await listeningGateway(url);
  const { head } = await pageOf(gateway);
  const malformed = "GET /v1/datasets/61 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n";
  for (let i = 0; i < 3; i++) {
    const leaving = new AbortController();
    await fetch(`${gateway.url}/api/v1/json/data/61`, { signal: leaving.signal });
    leaving.abort();
    expect((await send(gateway.port, malformed)).head).toMatch(/^HTTP\/1.1 501 /);
  }
  await until(() => gateway.core.traffic.others().some(({ requests }) => requests === 3));
  expect(await head()).toMatchObject({ verdict: "calm", figures: [3, 0] });
});
