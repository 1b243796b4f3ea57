import { get } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { readOutage } from "../../../../tools/sampleLegacy/outages.ts";
import { startSampleLegacy } from "../../../../tools/sampleLegacy/startSampleLegacy.ts";
import { clock } from "../../../gateway/cache/support.ts";
import { listeningGateway } from "../../../gateway/http/support.ts";
import { httpUpstream, rawUpstream } from "../../../gateway/proxy/support.ts";
import { freePort } from "../../../support/freePort.ts";
import { until } from "../../../support/waiting.ts";
import { startSample } from "../../../gateway/oldReads/sample.ts";
import { cachingOver, startLegacy } from "../../../gateway/oldReads/support.ts";
import { operatorsOf, textOf } from "./operators.ts";

const minute = 60_000;

/** The heading of the page, with its list of troubles; and what became of old clients' reads. */
const shownOn = (page: string) => {
  const heading = textOf(/<h1[^]*?<\/header>/.exec(page)?.[0] ?? "").trim();
  return { heading, reads: /Of old clients’ reads since then (.*? failed)/.exec(heading)?.[1] };
};
const shownBy = async (see: (path: string) => Promise<Response>) => shownOn(await (await see("/")).text());

const startWhole = async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  return legacy;
};

test("after three misses the page says what fails, and since when", async () => {
  const { ask, see, legacy, core } = await cachingOver(await startWhole());
  await ask("/api/v1/json/data/61");
  const fine = await shownBy(see);
  expect(fine.heading).toBe("The cache answers 0 % of old clients’ reads");
  await fetch(`${legacy.url}/outage/database`, { method: "POST" });
  for (const id of [2, 3, 4]) await ask(`/api/v1/json/data/${id}`);
  await until(() => core.outage.isOn());
  expect((await ask("/api/v1/json/data/61")).status).toBe(200);
  await until(async () => (await shownBy(see)).heading.includes("it has no database: it is stopped, or takes"));
  const { heading, reads } = await shownBy(see);
  expect(heading).toMatch(
    /^(?:Clients get errors|No client gets an error) .*?Legacy has been failing since \d\d:\d\d UTC : what is not cached/,
  );
  expect(reads).toMatch(/^1 came from the cache, 3 failed$/);
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
])("a LEGACY_URL that leads to %s is said, and asked about", async (_, urlOf, reason) => {
  const url = await urlOf();
  const { port, core, ...gateway } = await listeningGateway(url);
  for (const id of [2, 3, 4]) await fetch(`http://127.0.0.1:${port}/v1/datasets/${id}`);
  await until(() => core.outage.isOn());
  const { markup } = await operatorsOf({ gateway: { core, ...gateway } });
  expect(shownOn(await markup()).heading).toContain(
    `(${reason}; it has not answered since the start: is LEGACY_URL (${url}) right?)`,
  );
});

test("a refused gateway is in the heading, with the status", async () => {
  const { ask, see } = await cachingOver(await startSample({ outage: readOutage("page-403") }));
  for (const id of [2, 3, 4]) await ask(`/api/v1/json/data/${id}`);
  await until(async () => (await shownBy(see)).heading.includes("refusing the gateway since"));
  expect((await shownBy(see)).heading).toContain("status 403");
});

test.each(["page-504/data/features", "empty-500/data/features"])(
  "an endpoint that fails alone is named, and no longer when it is well: %s",
  async (outage) => {
    const { pass } = clock(["setInterval"]);
    const { ask, see, legacy } = await cachingOver(await startSample({ outage: readOutage(outage) }));
    for (const id of [1, 2, 3]) await ask(`/api/v1/json/data/features/${id}`);
    pass(5000);
    expect((await shownBy(see)).heading).toMatch(
      /^(?:Clients get errors|No client gets an error) .*?Legacy has been failing at some endpoints since \d\d:\d\d UTC : .* not of legacy itself, lack all rows, cannot be read, or do not come: getDatasetFeatures 3\) What fails$/,
    );
    await fetch(`${legacy.direct}/outage`, { method: "DELETE" });
    pass(5 * minute);
    expect((await shownBy(see)).heading).toMatch(/^(The cache answers|No request)/);
  },
);

test.each([403, 429])("a client that a front answers %i is no failure of an endpoint", async (status) => {
  const { pass } = clock(["setInterval"]);
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
  pass(5000);
  expect(core.observer.counts()["legacy_refused_client getDataset"]).toBe(5);
  const states = core.dependencies.states().filter(({ name }) => name.startsWith("legacy_e"));
  expect(states).toMatchObject([{ name: "legacy_endpoints", state: "ok" }]);
});

test("an endpoint whose lists lack all rows, while others have theirs, is named", async () => {
  const { pass } = clock(["setInterval"]);
  const { ask, see, legacy, core } = await cachingOver(await startWhole());
  const lists = [1, 2, 3].map((limit) => `/api/v1/json/task/list/limit/${limit}`);
  for (const list of lists) await ask(list);
  await fetch(`${legacy.url}/outage/temporary-disk-full`, { method: "POST" });
  pass(2 * minute);
  for (const list of lists) expect((await ask(list)).status).toBe(200);
  await until(() => core.observer.counts()["empty_list listTasks"] === 3);
  pass(5000);
  expect((await shownBy(see)).heading).toMatch(
    /^(?:Clients get errors|No client gets an error) .*?Legacy has been failing at some endpoints since .*: listTasks 3\) What fails$/,
  );
});

test("the heading names a slow legacy: 20 misses in five minutes with a p95 over 5 s", async () => {
  const { pass } = clock(["setInterval"]);
  const { ask, see, legacy } = await cachingOver(await startLegacy());
  /** So many misses that take so many milliseconds. */
  const miss = async (count: number, first: number, ms: number): Promise<void> => {
    const gate = Promise.withResolvers<void>();
    legacy.gate = gate.promise;
    const answers = Array.from({ length: count }, (_, i) => ask(`/api/v1/json/data/${first + i}`));
    await until(() => legacy.running === count);
    pass(ms);
    gate.resolve();
    await Promise.all(answers);
  };
  await miss(18, 100, 0);
  await miss(1, 200, 6000);
  pass(5000);
  expect((await shownBy(see)).heading).toMatch(/^(The cache answers|No request)/);
  await miss(1, 201, 6000);
  pass(5000);
  const { heading, reads } = await shownBy(see);
  expect(heading).toMatch(
    /^(?:Clients get errors|No client gets an error) .*?Legacy has been slow since \d\d:\d\d UTC : what is not cached takes long.* \(2 of 20 calls/,
  );
  // Nothing has come since.
  expect(reads).toBeUndefined();
  pass(5 * minute);
  expect((await shownBy(see)).heading).toMatch(/^(The cache answers|No request)/);
});

test("a full legacy is in the heading: requests are answered 503 for want of room", async () => {
  const { pass } = clock(["setInterval"]);
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
  expect((await fetch(`${gateway.url}/api/v1/json/data/62`)).status).toBe(503);
  pass(5000);
  expect(shownOn(await markup()).heading).toMatch(
    /^(?:Clients get errors|No client gets an error) .*?Legacy has been full since \d\d:\d\d UTC : .* answered 503.* \(1 requests? in the last 5 minutes found no connection/,
  );
  release.resolve();
  await first;
});
