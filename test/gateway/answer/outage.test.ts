import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { sampleCatalogue } from "../../../tools/sampleLegacy/catalogue.ts";
import { outageForms } from "../../../tools/sampleLegacy/outages.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { freePort } from "../../support/freePort.ts";
import { until } from "../../support/waiting.ts";
import { clock } from "../cache/support.ts";
import { isProbeOfLegacy, listeningGateway } from "../http/support.ts";
import { httpUpstream } from "../proxy/support.ts";
import { exchange, measures } from "./support.ts";

/** The sample legacy, and how its outages begin (`undefined`: end). */
const startSample = async (port?: number) => {
  const { url, close } = await startSampleLegacy(port === undefined ? {} : { port });
  onTestFinished(close);
  const become = async (form?: string) =>
    expect(
      (await fetch(`${url}/outage${form === undefined ? "" : `/${form}`}`, { method: form ? "POST" : "DELETE" })).ok,
    ).toBe(true);
  return { url, become };
};

/** A gateway in front of this legacy. `states`: the reported troubles of legacy. */
const gatewayOver = async (url: string, environment: Record<string, string> = {}) => {
  const gateway = await listeningGateway(url, environment);
  const { core } = gateway;
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(gateway.url + path, { headers, redirect: "manual" });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  const states = () =>
    [...core.dependencies.failed(), ...core.legacyTroubles().filter(({ last }) => last === undefined)].map(
      ({ name, why }) => `${name}: ${why}`,
    );
  return { ...gateway, ask, states };
};
const records = (count: number) => Array.from({ length: count }, (_, i) => `/v1/datasets/${i + 1}`);

const noticed: Record<string, string> = {
  database: "it has no database",
  "no-connections": "it has no database",
  "page-502": "it answers with status 502",
  "page-503": "it answers with status 503",
  "page-504": "it answers with status 504",
  "page-429": "it answers with status 429",
  "page-301": "it answers with status 301",
  "page-302": "it answers with status 302",
  "page-404": "it answers with status 404",
  "page-200": "it answers with status 200",
  "empty-200": "it answers with status 200",
  "cut-200": "it breaks off its answers",
  "empty-500": "it answers with status 500",
};

describe("legacy fails", () => {
  test("the forms of outage are those of the sample", () => {
    const whole = Object.entries(outageForms).flatMap(([name, { answer }]) => (answer ? [name] : []));
    expect(whole.toSorted()).toEqual([...Object.keys(noticed), "page-403", "frozen"].toSorted());
  });

  test.each(Object.entries(noticed))("%s is noticed at the third answer, and so is its end: %s", async (form, why) => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    const legacy = await startSample();
    const { ask, core, states } = await gatewayOver(legacy.url);
    expect((await ask("/v1/datasets/61")).status).toBe(200);
    await legacy.become(form);
    for (const path of records(3)) expect((await ask(path)).status).toBeGreaterThanOrEqual(502);
    await until(() => core.outage.isOn());
    expect([states(), core.meter.openCircuits()]).toEqual([[`legacy: ${why}`], ["legacy"]]);
    await legacy.become();
    pass(1000);
    await until(() => !core.outage.isOn());
    expect([states(), core.meter.openCircuits()]).toEqual([[], []]);
    expect((await ask("/v1/datasets/2")).status).toBe(200);
  });

  test("pass-through answers count like those of the new interface", async () => {
    const legacy = await startSample();
    const { ask, states } = await gatewayOver(legacy.url);
    await legacy.become("database");
    for (let i = 0; i < 3; i++) expect((await ask("/api/v1/json/data/61")).status).toBe(412);
    await until(() => states().length === 1);
    expect(states()).toEqual(["legacy: it has no database"]);
  });

  test("a closed port is noticed at the first request, its end a second later", async () => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    const port = await freePort();
    const { ask, core } = await gatewayOver(`http://127.0.0.1:${port}`);
    await ask("/");
    await until(() => core.outage.isOn());
    await startSample(port);
    pass(1000);
    await until(() => !core.outage.isOn());
    expect((await ask("/v1/datasets/61")).status).toBe(200);
  });

  test("a legacy that is silent for five seconds is probed, and fails with the probe", async () => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    const asked: string[] = [];
    const url = await httpUpstream(({ url: target = "" }) => void asked.push(target));
    const { ask, core, states } = await gatewayOver(url);
    const slow = ask("/v1/datasets/61");
    await until(() => asked.length === 1);
    pass(5000);
    await until(() => asked.length === 2);
    pass(5000);
    await until(() => core.outage.isOn());
    expect([asked[1], states()]).toEqual([
      "/api/v1/json/evaluationmeasure/list",
      ["legacy: it takes too long to answer"],
    ]);
    pass(60_000);
    expect((await slow).status).toBe(504);
  });

  test("while legacy is late a data file is 503 without a body; one in 5 s is sent", async () => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    const asked: string[] = [];
    const url = await httpUpstream(({ url: target = "" }) => void asked.push(target));
    const { ask, core, port } = await gatewayOver(url);
    const file = "/data/v1/download/61/iris.arff";
    const first = [ask(file), ask("/v1/datasets/61")];
    await until(() => asked.length === 2);
    pass(5000);
    await until(() => asked.length === 3);
    pass(5000);
    await until(() => core.outage.isLate());
    asked.length = 0;
    const tried = ask(file);
    await until(() => asked.length === 1);
    const { status, headers, body } = await ask(file);
    expect([status, headers.get("retry-after"), body]).toEqual([503, "5", ""]);
    pass(5000);
    const again = ask(file);
    await until(() => asked.filter((target) => target === file).length === 2);
    // Requests other than a GET of a file go to legacy.
    const posted = `POST ${file} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    const others = [exchange(port, posted), ask("/d/61")];
    await until(() => asked.includes("/d/61") && asked.filter((target) => target === file).length === 3);
    pass(60_000);
    await Promise.all([...first, tried, again, ...others]);
  });

  test("a read without a stored answer gets 503 at once; one request a second is sent", async () => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    const legacy = await startSample();
    const { ask, core } = await gatewayOver(legacy.url);
    await legacy.become("page-502");
    for (const path of records(3)) await ask(path);
    await until(() => core.outage.isOn());
    /** The number of five requests that got 502 from legacy; the others got 503. */
    const sent = async () => {
      const answers = await Promise.all(records(5).map((path) => ask(path)));
      for (const { status } of answers) expect([502, 503]).toContain(status);
      return answers.filter(({ status }) => status === 502).length;
    };
    expect(await sent()).toBe(1);
    expect(await sent()).toBe(0);
    pass(1000);
    expect(await sent()).toBe(1);
  });

  test("a write is never the one request a second that is sent", async () => {
    const legacy = await startSample();
    const { url, ask, core } = await gatewayOver(legacy.url);
    const headers = { "X-API-Key": sampleCatalogue.users[0]?.key ?? "", "Content-Type": "application/json" };
    const tagWith = async (tag: string) =>
      (await fetch(`${url}/v1/datasets/tag`, { method: "POST", headers, body: `{"data_id":61,"tag":"${tag}"}` }))
        .status;
    expect(await tagWith("a")).toBe(200);
    // The dataset has been read: its tag may be written.
    expect((await ask("/v1/datasets/61", headers)).status).toBe(200);
    await legacy.become("page-502");
    for (const path of records(3)) await ask(path);
    await until(() => core.outage.isOn());
    expect(await tagWith("b")).toBe(503);
    expect((await ask("/v1/datasets/9")).status).toBe(502);
  });

  test("the pause of an entry ends with the outage", async () => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    const legacy = await startSample();
    const { ask, core } = await gatewayOver(legacy.url);
    const how = async (path: string) => (await ask(path)).headers.get("cache-status");
    for (const path of records(3)) await ask(path);
    pass(24 * 3_600_000);
    await legacy.become("page-502");
    for (const path of records(3)) expect(await how(path)).toContain("stale-if-error");
    await until(() => core.outage.isOn());
    for (const path of records(3)) expect(await how(path)).toContain("stale-if-error");
    await legacy.become();
    pass(1000);
    await until(() => !core.outage.isOn());
    for (const path of records(3)) expect(await how(path)).toMatch(/fwd=stale; stored/);
  });
});

describe("no outage", () => {
  /** A legacy that answers the measures, unless `does` has answered: then `does` returns true. */
  const legacyThat = (does: (request: IncomingMessage, response: ServerResponse) => boolean) =>
    httpUpstream((request, response) => {
      if (!does(request, response)) response.writeHead(200, { "Content-Type": "application/json" }).end(measures);
    });
  const page = (response: ServerResponse, status: number, headers: Record<string, string> = {}): true => {
    response.writeHead(status, { "Content-Type": "text/html", ...headers }).end("<html>No</html>");
    return true;
  };

  test("a single endpoint that fails for weeks is no outage", async () => {
    const { pass } = clock();
    const legacy = await startSample();
    const { ask, core, states } = await gatewayOver(legacy.url);
    await legacy.become("page-504/flow/exists");
    for (let i = 0; i < 12; i++) {
      expect((await ask(`/v1/flow/exists/a${i}/1/`)).status).toBe(502);
      await core.outage.settled();
      pass(1000);
    }
    expect([states(), core.outage.isOn()]).toEqual([[], false]);
  });

  test("a front that refuses the gateway is a trouble of its own, with the status", async () => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    const legacy = await startSample();
    const { ask, states } = await gatewayOver(legacy.url);
    await legacy.become("page-403");
    for (const path of records(3)) await ask(path);
    await until(() => states().length > 0);
    expect(states()).toEqual(["refusing: status 403"]);
    await legacy.become();
    pass(1000);
    await until(() => states().length === 0);
  });

  test("a front that redirects HTTP is no outage: the probe says that it came by HTTPS", async () => {
    const probes: unknown[] = [];
    const url = await legacyThat((request, response) => {
      if (isProbeOfLegacy(request)) probes.push(request.headers["x-forwarded-proto"]);
      if (request.headers["x-forwarded-proto"] !== "https") return page(response, 301);
      return request.url?.includes("/data/") === true && page(response, 504);
    });
    const { ask, core } = await gatewayOver(url, { TRUSTED_PROXIES: "127.0.0.1" });
    for (const path of records(3)) await ask(path, { "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1" });
    await until(() => probes.length === 1);
    await core.outage.settled();
    expect([probes, core.outage.isOn()]).toEqual([["https"], false]);
  });

  test("a front that redirects one caller's HTTP is no outage: legacy answered others", async () => {
    const probes: unknown[] = [];
    const url = await legacyThat((request, response) => {
      if (isProbeOfLegacy(request)) probes.push(request.headers["x-forwarded-proto"]);
      return request.headers["x-forwarded-proto"] !== "https" && page(response, 301);
    });
    const { ask, core } = await gatewayOver(url, { TRUSTED_PROXIES: "127.0.0.1" });
    const by = (scheme: string) => ({ "X-Forwarded-Proto": scheme, "X-Forwarded-For": "192.0.2.1" });
    await ask("/v1/evaluationmeasures/list", by("https"));
    for (const path of records(3)) await ask(path, by("http"));
    await until(() => probes.length === 1);
    await core.outage.settled();
    expect([probes, core.outage.isOn()]).toEqual([["https"], false]);
  });

  test.each(["Host", "X-Request-Id", "X-Forwarded-Host"])(
    "a client's %s that reads x-forwarded-proto names no scheme to the probe",
    async (name) => {
      const probes: unknown[] = [];
      const url = await legacyThat((request, response) => {
        if (isProbeOfLegacy(request)) probes.push(request.headers["x-forwarded-proto"]);
        return request.url?.includes("/data/") === true && page(response, 504);
      });
      const { port } = await gatewayOver(url, { TRUSTED_PROXIES: "127.0.0.1" });
      const host = name === "Host" ? "" : "Host: a\r\n";
      const lines = `${host}${name}: x-forwarded-proto\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n`;
      for (const id of [1, 2, 3]) await exchange(port, `GET /api/v1/json/data/${id}?x HTTP/1.1\r\n${lines}`);
      await until(() => probes.length === 1);
      expect(probes).toEqual(["https"]);
    },
  );

  test("a front that redirects only the probe is no outage: three requests overrule it", async () => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    let isIll = true;
    const url = await legacyThat((request, response) => (isIll || isProbeOfLegacy(request)) && page(response, 301));
    const { ask, core, states } = await gatewayOver(url);
    for (const path of records(3)) await ask(path);
    await until(() => core.outage.isOn());
    isIll = false;
    for (let i = 0; i < 3; i++) {
      expect((await ask("/v1/evaluationmeasures/list", { "Cache-Control": "no-store" })).status).toBe(200);
      pass(1000);
    }
    expect(core.outage.isOn()).toBe(false);
    await until(() => states().length > 0);
    expect(states()).toEqual(["unsure: requests get answers of legacy itself, and the probe does not"]);
  });

  test("the slow requests of a single caller are no outage", async () => {
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    let slow = 0;
    const url = await legacyThat(({ url: target }) => target?.includes("/data/") === true && ++slow > 0);
    const { ask, core } = await gatewayOver(url);
    const answers = records(5).map((path) => ask(path));
    await until(() => slow === 5);
    pass(5000);
    await core.outage.settled();
    expect(core.outage.isOn()).toBe(false);
    pass(60_000);
    for (const { status } of await Promise.all(answers)) expect(status).toBe(504);
  });
});
