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
import { headingOf, operatorsOf, textOf } from "./operators.ts";

const MINUTE = 60_000;

/** The heading with its causes; the lights above it; what clients get, and the figures of the last hours. */
const shownOn = (page: string) => ({
  heading: textOf(headingOf(page)).trim(),
  lights: textOf(/<ul class="lights"[^]*?<\/ul>/.exec(page)?.[0] ?? "").trim(),
  verdict: textOf(/<h1[^]*?<\/h1>/.exec(page)?.[0] ?? "").trim(),
  figures: textOf(/<figcaption[^]*?<\/figcaption>/.exec(page)?.[0] ?? "").trim(),
});
const shownBy = async (see: (path: string) => Promise<Response>) => shownOn(await (await see("/")).text());

const startWhole = async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  return legacy;
};

test.each([
  ["database", "it has no database: stopped, or without a free connection"],
  ["page-200", "it answers with status 200"],
  ["cut-200", "it breaks off its answers"],
])("three misses are errors of clients, and the page says what fails: %s", async (form, why) => {
  const { ask, see, legacy, core } = await cachingOver(await startWhole());
  await ask("/api/v1/json/data/61");
  const fine = await shownBy(see);
  expect(fine.verdict).toBe("The cache answers 0 % of old clients’ reads");
  await fetch(`${legacy.url}/outage/${form}`, { method: "POST" });
  for (const id of [2, 3, 4]) await ask(`/api/v1/json/data/${id}`);
  await until(() => core.outage.isOn());
  expect((await ask("/api/v1/json/data/61")).status).toBe(200);
  await until(async () => (await shownBy(see)).heading.includes(why));
  const { heading, verdict, figures } = await shownBy(see);
  expect(verdict).toBe("Clients get errors: 3 of 5 in the last minute (getDataset of old clients 3 of 5)");
  expect(heading).toMatch(
    /Legacy has been failing since \d\d:\d\d UTC \(.*\): requests that the cache cannot answer .* Repair legacy; nothing has to be pressed here. What fails$/,
  );
  expect(figures).toMatch(/^5 requests in the last minute, 3 failed, most at \d\d:\d\d UTC: 3 in a minute$/);
});

const nginx = "<html><head><title>Welcome to nginx!</title></head></html>";
const website = () => httpUpstream((_, response) => response.setHeader("Content-Type", "text/html").end(nginx));

test.each<[what: string, url: () => Promise<string>, reason: string]>([
  [
    "no server",
    async () => `http://127.0.0.1:${await freePort()}`,
    "it cannot be reached: connection refused, nothing listens on its port",
  ],
  [
    "a server without TLS",
    async () => (await website()).replace("http", "https"),
    "it cannot be reached: it speaks no TLS on this port",
  ],
  [
    "a server that speaks another protocol",
    async () => (await rawUpstream((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"))).origin,
    "it breaks off its answers: they are no sound HTTP",
  ],
  ["another website", website, "it answers with status 200: a page that is not legacy's, “Welcome to nginx!”"],
])("a LEGACY_URL that leads to %s is a trouble, and its heading asks about it", async (_, urlOf, reason) => {
  const url = await urlOf();
  const { port, core, ...gateway } = await listeningGateway(url);
  for (const id of [2, 3, 4]) await fetch(`http://127.0.0.1:${port}/v1/datasets/${id}`);
  await until(() => core.outage.isOn());
  const { markup } = await operatorsOf({ gateway: { core, ...gateway } });
  expect(shownOn(await markup()).heading).toContain(
    `(${reason}; it has not answered since the start: is LEGACY_URL (${url}) right?)`,
  );
});

test("the heading asks if LEGACY_URL is right until legacy was back once", async () => {
  const port = await freePort();
  const gateway = await listeningGateway(`http://127.0.0.1:${port}`);
  const { markup } = await operatorsOf({ gateway });
  const fail = async (): Promise<string> => {
    await fetch(`${gateway.url}/api/v1/json/data/61`);
    await until(() => gateway.core.outage.isOn());
    return shownOn(await markup()).heading;
  };
  expect(await fail()).toContain("is LEGACY_URL");
  const legacy = await startSampleLegacy({ port });
  await until(() => !gateway.core.outage.isOn());
  await legacy.close();
  expect(await fail()).toMatch(/\(it cannot be reached: connection refused, nothing listens on its port\)/);
});

test("a refused gateway is in the heading, with the status", async () => {
  const { ask, see } = await cachingOver(await startSample({ outage: readOutage("page-403") }));
  for (const id of [2, 3, 4]) await ask(`/api/v1/json/data/${id}`);
  await until(async () => (await shownBy(see)).heading.includes("refuses the gateway since"));
  expect((await shownBy(see)).heading).toContain("(status 403: a page that is not legacy's, “403 Forbidden”)");
});

test.each(["page-504/data/features", "empty-500/data/features"])(
  "an endpoint that fails alone is named, and no longer when it is well: %s",
  async (outage) => {
    const { pass } = clock(["setInterval"]);
    const { ask, see, legacy } = await cachingOver(await startSample({ outage: readOutage(outage) }));
    for (const id of [1, 2, 3]) await ask(`/api/v1/json/data/features/${id}`);
    const { verdict, heading } = await shownBy(see);
    expect(verdict).toBe("Clients get errors: 3 of 3 in the last minute (getDatasetFeatures of old clients 3 of 3)");
    expect(heading).toMatch(
      /Answers (?:that are not from legacy|of legacy that cannot be read) since \d\d:\d\d UTC \(getDatasetFeatures 3 in the last 5 minutes\): .* (?:Look at what stands before legacy|Repair legacy); nothing has to be pressed here. What fails$/,
    );
    await fetch(`${legacy.direct}/outage`, { method: "DELETE" });
    pass(MINUTE + 5000);
    const after = await shownBy(see);
    expect(after.lights).toMatch(/^Legacy (?:ill|unreadable) since \d\d:\d\d UTC , last at \d\d:\d\d:\d\d UTC$/);
    expect(after.verdict).toMatch(/^Clients got errors until \d\d:\d\d UTC$/);
    expect(after.heading).toMatch(
      /Answers [\w ]+ since \d\d:\d\d UTC , last at \d\d:\d\d:\d\d UTC : .* Nothing has to be pressed$/,
    );
    pass(5 * MINUTE);
    expect((await shownBy(see)).heading).not.toContain("Answers");
    pass(60 * MINUTE);
    expect((await shownBy(see)).verdict).toMatch(/^(The cache answers|No request)/);
  },
);

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
  const { port, core } = await listeningGateway(front, { TRUSTED_PROXIES: "127.0.0.1" });
  const ask = (id: number, address: string) =>
    fetch(`http://127.0.0.1:${port}/v1/datasets/${id}`, { headers: { "X-Forwarded-For": address } });
  for (const id of [2, 3]) {
    expect((await ask(id, "192.0.2.9")).status).toBeGreaterThan(500);
    expect((await ask(61, "192.0.2.1")).status).toBe(200);
  }
  for (const id of [4, 5, 6]) await ask(id, "192.0.2.9");
  expect(core.observer.counts()["legacy_refused_client getDataset"]).toBe(5);
  expect(core.legacyTroubles()).toEqual([]);
});

test.each(["", `?api_key=${keys.owner}`])("an endpoint whose lists lack all rows is named: %j", async (query) => {
  const { pass } = clock(["setInterval"]);
  const { ask, see, legacy, core } = await cachingOver(await startWhole());
  const lists = [1, 2, 3].map((limit) => `/api/v1/json/task/list/limit/${limit}${query}`);
  for (const list of lists) await ask(list);
  await fetch(`${legacy.url}/outage/temporary-disk-full`, { method: "POST" });
  pass(2 * MINUTE);
  for (const list of lists) expect((await ask(list)).status).toBe(200);
  await until(() => core.observer.counts()["empty_list listTasks"] === 3);
  expect((await shownBy(see)).heading).toMatch(
    /^No client gets an error .*Legacy answers lists without any of their rows since \d\d:\d\d UTC \(listTasks 3 in the last 5 minutes\): .* Repair legacy; nothing has to be pressed here$/,
  );
});

test("slow answers are a cause from the third on, if over 5 % of an endpoint are slow", async () => {
  const { pass } = clock(["setInterval"]);
  const { ask, see, legacy } = await cachingOver(await startLegacy());
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
  expect((await shownBy(see)).heading).not.toContain("Slow");
  await miss(1, 202, 6000);
  const { heading, lights } = await shownBy(see);
  expect(lights).toMatch(/^Legacy (?:slow|unreadable) since \d\d:\d\d UTC$/);
  expect(heading).toMatch(
    /^No client gets an error .*Slow answers of legacy since \d\d:\d\d UTC \(getDataset 3 in the last 5 minutes\): .* nothing has to be pressed here$/,
  );
  pass(6 * MINUTE);
  expect((await shownBy(see)).heading).toMatch(/^(The cache answers|No request)/);
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
  const { markup } = await operatorsOf({ gateway });
  const miss = async (quick: number): Promise<string> => {
    await Promise.all(Array.from({ length: quick }, () => ask(61)));
    const slow = [1, 2, 3].map(() => ask(7));
    await until(() => waiting.length === 3);
    pass(6000);
    for (const answer of waiting.splice(0)) answer();
    await Promise.all(slow);
    return shownOn(await markup()).heading;
  };
  expect(await miss(100)).toMatch(/^Requests pass to legacy/);
  expect(await miss(0)).toMatch(/Slow answers of legacy .*\(getDataset 6 in the last 5 minutes\)/);
});

test("a failure or two are no alarm, and are not hidden for five minutes", async () => {
  const { pass } = clock(["setInterval"]);
  const { ask, see, legacy, core } = await cachingOver(await startWhole());
  await ask("/api/v1/json/data/61");
  await fetch(`${legacy.url}/outage/database`, { method: "POST" });
  core.dependencies.add("thing", { trouble: "A thing has been failing", effect: "" })(false, "it is gone");
  expect((await shownBy(see)).verdict).toBe("No client gets an error");
  await ask("/api/v1/json/data/2");
  expect((await shownBy(see)).verdict).toBe(
    "1 of 2 requests were answered in the last 5 minutes (failed: getDataset of old clients 1 of 2)",
  );
  pass(2 * MINUTE);
  expect((await shownBy(see)).verdict).toMatch(/^1 of 2 requests were answered in the last 5 minutes/);
  pass(5 * MINUTE);
  expect((await shownBy(see)).verdict).toBe("No client gets an error");
});

test("requests that find no room are errors, and a cause", async () => {
  const release = Promise.withResolvers<void>();
  let running = 0;
  const url = await httpUpstream((_, response) => {
    running++;
    void release.promise.then(() => response.end("{}"));
  });
  const gateway = await listeningGateway(url, { MAX_CONNECTIONS: "1" }, { waiting: 0 });
  const { markup } = await operatorsOf({ gateway });
  const first = fetch(`${gateway.url}/api/v1/json/data/61`);
  await until(() => running === 1);
  for (const id of [62, 63, 64]) expect((await fetch(`${gateway.url}/api/v1/json/data/${id}`)).status).toBe(503);
  expect(shownOn(await markup()).heading).toMatch(
    /^Clients get errors: 3 of 3 in the last minute \(other reads of old clients 3 of 3\) .*Too many requests for legacy since \d\d:\d\d UTC \(getDataset 3 in .* raise MAX_CONNECTIONS; nothing/,
  );
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
  const { markup } = await operatorsOf({ gateway });
  const path = `${gateway.url}/api/v1/json/data/tag`;
  for (let i = 0; i < 3; i++) {
    const answer = await fetch(path, { method: "POST", body: "data_id=61&tag=a" });
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow("terminated");
    await (await fetch(`${gateway.url}/api/v1/json/data/61`)).text();
  }
  await until(() => gateway.core.traffic.others().length === 2);
  const { verdict, heading } = shownOn(await markup());
  expect(verdict).toBe("Clients get errors: 3 of 6 in the last minute (writes of old clients 3 of 3)");
  expect(heading).toMatch(
    /Answers that legacy broke off since \d\d:\d\d UTC \(writes of both interfaces 3 in the last 5 minutes\)/,
  );
});

test("a request that is malformed, or broken off by its client, is no error", async () => {
  const url = await httpUpstream((_, response) => void response.writeHead(200, { "Content-Length": 1000 }).write("{"));
  const gateway = await listeningGateway(url);
  const { markup } = await operatorsOf({ gateway });
  for (let i = 0; i < 3; i++) {
    const leaving = new AbortController();
    await fetch(`${gateway.url}/api/v1/json/data/61`, { signal: leaving.signal });
    leaving.abort();
    const { head } = await send(
      gateway.port,
      "GET /v1/datasets/61 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
    );
    expect(head).toMatch(/^HTTP\/1.1 501 /);
  }
  await until(() => gateway.core.traffic.others().some(({ requests }) => requests === 3));
  expect(shownOn(await markup()).verdict).toMatch(/^Requests pass to legacy$/);
});
