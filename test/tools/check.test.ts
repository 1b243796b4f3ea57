import { spawnSync } from "node:child_process";
import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { closeSync, constants, openSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check } from "../../tools/check.ts";
import { startServer } from "../../src/gateway/server.ts";
import { type SampleLegacy, startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { httpUpstream } from "../gateway/proxy/support.ts";
import { freePort } from "../support/freePort.ts";
import { gatewayFor } from "../support/gateway.ts";
import { keys } from "../gateway/answer/support.ts";
import { hostileTexts, terminalControls } from "../support/hostileText.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

let legacy: SampleLegacy;
beforeAll(async () => (legacy = await startSampleLegacy()));
afterAll(() => legacy.close());

/** The check of a gateway before this legacy, and its last lines. */
const checked = async (url: string, environment: Record<string, string> = {}, times = {}) => {
  const gateway = await gatewayFor(url, environment, { isCheck: true });
  const lines: string[] = [];
  const { settings } = gateway.core;
  const result = await check(gateway, {
    settings,
    strict: false,
    parts: gateway.features.checks,
    off: gateway.off,
    print: (line) => lines.push(line),
    times,
  });
  await gateway.close();
  return {
    ...result,
    events: gateway.observer.counts(),
    lines,
    summary: lines.slice(lines.indexOf("") + 1).join("\n"),
  };
};

const answering = (status: number, type: string, body: string) =>
  httpUpstream((_, response) => response.writeHead(status, { "Content-Type": type }).end(body));

/** The sample legacy, except for these answers. */
const sampleBut = (answerTo: (path: string) => Response | undefined) =>
  httpUpstream(({ url = "" }, response) => {
    const answer = async () => {
      const answered = answerTo(url) ?? (await fetch(legacy.url + url));
      const { "content-length": _, ...headers } = Object.fromEntries(answered.headers);
      response.writeHead(answered.status, headers).end(await answered.text());
    };
    void answer();
  });

describe("the summary says plainly how legacy answers, and what to do", () => {
  test.each<[status: number, type: string, body: string, advice: string]>([
    [404, "text/html", "<h1>Not Found</h1>", "is LEGACY_PATH right?"],
    [200, "text/html; charset=utf-8", "<html>Welcome</html>", "is LEGACY_PATH right?"],
    [301, "text/html", "", "it redirects: are LEGACY_URL (http or https) and LEGACY_HOST right?"],
    [401, "text/html", "", "a server before legacy asks for a password: let the gateway pass without one"],
    [403, "text/html", "", "a server before legacy refuses the gateway: is LEGACY_HOST right?"],
    [500, "text/html", "", "legacy fails: look at its log"],
    [412, "application/json", '{"error":{"code":"107","message":"Database down"}}', "look at legacy's log"],
  ])("--check says what to do where legacy answers %i %s %j", async (status, type, body, advice) => {
    const url = await answering(status, type, body);
    const { summary, rows, ready } = await checked(url);
    const words = `legacy at ${url}/api/v1 answers ${status} ${type.split(";")[0]}`;
    expect(ready).toBe(false);
    expect(summary).toMatch(/^NOT READY: .*; \d checks passed, 1 failed:\n {2}legacy: /);
    expect(summary).toContain(words);
    expect(summary).toContain(`  legacy: ${advice}`);
    // One failure with one cause, not one for each endpoint.
    expect(rows.filter(({ result }) => result === "FAIL").map(({ name }) => name)).toEqual(["legacy"]);
  });

  test.each([
    ["a message", "application/json", JSON.stringify({ error: { code: "111", message: hostileTexts.join(" ") } })],
    ["a type", "text/\u00e9\u009b31mhtml", "<html>"],
  ])("--check prints no control characters of legacy's: %s", async (_, type, body) => {
    const { lines, ...result } = await checked(await answering(412, type, body));
    expect(lines.join("\n")).toMatch(/\\u\{(1b|9b)\}/);
    for (const text of [...lines, ...result.rows.map(({ found }) => found), result.legacy])
      expect(text).not.toMatch(terminalControls);
  });

  test("--check says so where nothing listens at LEGACY_URL", async () => {
    const { summary, lines } = await checked("http://127.0.0.1:1");
    expect(summary).toMatch(
      /^NOT READY: legacy at http:\/\/127\.0\.0\.1:1\/api\/v1 gives no answer: .*\(ECONNREFUSED: connection refused, nothing listens on its port\)/,
    );
    expect(summary).toContain("  legacy: is LEGACY_URL right, and is legacy up?");
    expect(lines.join("\n")).toMatch(/^FAIL +legacy +/m);
  });

  test("--check says so where LEGACY_URL leads to a gateway that asks itself", async () => {
    const own = await freePort();
    const gateway = await gatewayFor(`http://127.0.0.1:${own}`);
    const server = await startServer(gateway, { host: "127.0.0.1", port: own, prefixes: ["/v1"] });
    const { summary } = await checked(`http://127.0.0.1:${own}`);
    expect(summary).toContain("  legacy: LEGACY_URL leads to the gateway itself: correct it");
    await server.stop(1000);
    await gateway.close();
  });

  test.each([
    ["LEGACY_URL", "PORT", "HOST", "127.0.0.1"],
    ["LEGACY_URL", "ADMIN_PORT", "ADMIN_HOST", "localhost"],
    ["MODERN_URL", "PORT", "HOST", "0.0.0.0"],
  ])("--check says so where %s leads to where the gateway will listen: %s", async (name, portName, hostName, host) => {
    const port = await freePort();
    const environment = { [portName]: String(port), [hostName]: host };
    const own = `http://127.0.0.1:${port}`;
    const { summary, lines } = await (name === "LEGACY_URL"
      ? checked(own, environment)
      : checked(legacy.url, { ...environment, [name]: `${own}/v1` }));
    expect(summary).toContain(`  ${name}: correct ${name}: it leads to the gateway itself`);
    expect(lines.join("\n")).toMatch(
      new RegExp(`^FAIL  ${name} .*\\(${hostName} ${host}, ${portName} ${port}\\)$`, "m"),
    );
  });
});

test("--check notes that another gateway answers in legacy's or modern's place", async () => {
  const named = (name: string, value: string) => () => Response.json({}, { headers: { [name]: value } });
  const cached = named("Cache-Status", "catalog-gateway; hit; ttl=60");
  const gateway = await sampleBut((path) => (path.startsWith("/v1/") ? cached() : undefined));
  const modern = await sampleBut(named("Via", "1.1 catalog-gateway-00000000"));
  const notesOf = async (url: string, environment = {}) => {
    const { rows, ready } = await checked(url, environment);
    expect(ready).toBe(true);
    return rows.flatMap(({ result, name, found }) =>
      result === "note" && name.endsWith("_URL") ? `${name}: ${found}` : [],
    );
  };
  expect(await notesOf(legacy.url)).toEqual([]);
  expect(await notesOf(gateway)).toEqual([
    expect.stringMatching(/^LEGACY_URL: another gateway answers GET \/v1\/\S+ there: is this the address of legacy/),
  ]);
  expect(await notesOf(legacy.url, { MODERN_URL: modern })).toEqual([
    "MODERN_URL: another gateway answers there: is this the address of modern itself?",
  ]);
});

test("a MODERN_URL that leads to the gateway itself is logged, and legacy answers", async () => {
  const port = await freePort();
  const environment = { MODERN_URL: `http://127.0.0.1:${port}/v1`, STAGES: '{"getDataset": {"stage": "modern"}}' };
  const gateway = await gatewayFor(legacy.url, environment);
  const server = await startServer(gateway, { host: "127.0.0.1", port, prefixes: ["/v1"] });
  const { status } = await fetch(`http://127.0.0.1:${port}/v1/datasets/1`);
  expect([status, gateway.observer.counts()["request_loop getDataset"]]).toEqual([200, 1]);
  await server.stop(1000);
  await gateway.close();
});

test("--check fails with a read-only LEGACY_API_KEY, and does not show it", async () => {
  const { ready, lines } = await checked(legacy.url, { LEGACY_API_KEY: keys.reader });
  expect([ready, lines.join("\n")]).toEqual([false, expect.stringMatching(/^FAIL +LEGACY_API_KEY /m)]);
  expect(lines.join("\n")).not.toContain(keys.reader);
});

test("--check says READY, and how many checks passed", async () => {
  const { ready, passed, failed, summary } = await checked(legacy.url);
  expect([ready, failed, passed > 0]).toEqual([true, 0, true]);
  expect(summary).toBe(
    `READY: legacy at ${legacy.url}/api/v1 answers 200 application/json; all ${passed} checks passed`,
  );
});

test("--check takes what legacy lists first as examples, in any catalogue", async () => {
  const lists: Record<string, object> = {
    "/data/list/limit/1": { data: { dataset: [{ did: 2, name: "x" }] } },
    "/setup/list/limit/1": { setups: { setup: { setup_id: "3", flow_id: "103" } } },
    "/study/list/limit/1": { study_list: { study: [{ id: "99", name: "x" }] } },
    "/flow/list/limit/1": { flows: { flow: [{ id: 102, name: "sample.Neighbours", external_version: "Sample_1.0" }] } },
  };
  const url = await sampleBut((path) => {
    const list = lists[path.replace("/api/v1/json", "")];
    return list && Response.json(list);
  });
  const { rows, ready } = await checked(url);
  const first = rows.filter(({ name }) => name.endsWith(" first")).map(({ name, found }) => `${name} ${found}`);
  expect(ready).toBe(true);
  expect(first).toEqual([
    expect.stringMatching(/^getDataset first 200, .* GET \/v1\/datasets\/2$/),
    // The sample has no features of it.
    expect.stringMatching(/^getDatasetFeatures first 412, .* GET \/v1\/datasets\/features\/2$/),
    expect.stringMatching(/^getDatasetQualities first 200, .* GET \/v1\/datasets\/qualities\/2$/),
    expect.stringMatching(/^getSetup first 200, .* GET \/v1\/setup\/3$/),
    expect.stringMatching(/^getStudy first 200, .* GET \/v1\/studies\/99$/),
    expect.stringMatching(/^findFlow first 200, .* GET \/v1\/flow\/exists\/sample\.Neighbours\/Sample_1\.0$/),
  ]);
  expect(rows.map(({ name }) => name)).not.toContain("getDataset iris");
});

test("--check names a record that legacy cannot show, and takes another one", async () => {
  let broken = /\/(data|run)\/1(\?|$)/;
  const url = await sampleBut((path) => (broken.test(path) ? new Response(null, { status: 500 }) : undefined));
  const { ready, rows } = await checked(url);
  const about = (wanted: string) =>
    rows.flatMap(({ name, result, found }) => (name === wanted ? [`${result} ${found}`] : []));
  expect(ready).toBe(true);
  expect(about("getDataset first")).toEqual([
    expect.stringMatching(/^note 502, .* GET \/v1\/datasets\/1 .*; another record is taken$/),
    expect.stringMatching(/^ok 200, .* GET \/v1\/datasets\/2$/),
  ]);
  expect(about("getRun one")).toEqual([
    expect.stringMatching(/^note 502, .* GET \/v1\/run\/1 /),
    expect.stringMatching(/^ok 200, .* GET \/v1\/run\/2$/),
  ]);
  broken = /\/run\/\d+(\?|$)/;
  const { summary } = await checked(url);
  expect(summary).toMatch(/^NOT READY: .*, 2 failed:\n {2}getRun one: /);
});

describe("--check of a legacy with fewer endpoints", () => {
  const html = { "Content-Type": "text/html" };
  const function100 = () => Response.json({ error: { code: "100", message: "Function not valid" } }, { status: 412 });
  const page = (path: string) => new Response(`<html>${path} was not found`, { status: 404, headers: html });
  const router = () => Response.json({ detail: "Not Found" }, { status: 404 });
  const ofRuns = /^\/api\/v1\/(?:json|xml)\/(?:run|evaluation)\//;
  const isMadeUp = (path: string) =>
    !/\/(?:data|task|tasktype|flow|setup|study|run|evaluation\w*|estimationprocedure)\//.test(path);
  const runs = ["getRun", "getRunTrace", "listRuns", "listRunTags", "listEvaluations", "listEvaluationsWithSetups"];

  test.each<[title: string, absent: (path: string) => Response]>([
    ["the code of an unknown function", function100],
    ["the page of a route that is made up", page],
    ["the answer of a router to a route that is made up", router],
  ])("endpoints that it lacks are notes, counted apart, by %s", async (_, absent) => {
    const url = await sampleBut((path) => (ofRuns.test(path) || isMadeUp(path) ? absent(path) : undefined));
    // Modern answers for one of them: there is nothing to compare that with.
    const modern = {
      MODERN_URL: await answering(200, "application/json", "{}"),
      STAGES: '{"getRun":{"stage":"modern"}}',
    };
    const { ready, rows, passed, summary } = await checked(url, modern);
    const notes = rows.filter(({ found }) => found.startsWith("this legacy does not have it: "));
    expect(rows.filter(({ result }) => result === "FAIL")).toEqual([]);
    expect([ready, notes.map(({ result, name }) => `${result} ${name}`)]).toEqual([
      true,
      runs.map((name) => `note ${name}`),
    ]);
    expect(summary).toMatch(
      new RegExp(`^READY: .*; all ${passed} checks passed; this legacy does not have 6 endpoints: ${runs.join(", ")}$`),
    );
  });

  test.each<[title: string, answer: (path: string) => Response | undefined, name: string]>([
    ["a page of its own", (path) => (ofRuns.test(path) ? page("/other") : undefined), "getRun one"],
    [
      "an unknown function, where other records are there",
      (path) => (path.includes("/run/list/task/1000000") ? function100() : undefined),
      "listRuns",
    ],
  ])("an endpoint that it fails to answer is no note: %s", async (_, answer, name) => {
    const { ready, rows } = await checked(await sampleBut(answer));
    expect(ready).toBe(false);
    expect(rows).toContainEqual(expect.objectContaining({ result: "FAIL", name }));
  });

  test("a legacy of which no endpoint is read is not ready", async () => {
    const { ready, summary } = await checked(await sampleBut(function100));
    expect([ready, summary]).toEqual([false, expect.stringContaining("  legacy: is LEGACY_PATH right?")]);
    // Only the very first request, which shows if legacy is there, is answered.
    let asked = 0;
    const once = await checked(await sampleBut(() => (asked++ === 0 ? undefined : function100())));
    expect(once.ready).toBe(false);
    expect(once.summary).toMatch(
      /^NOT READY: [^;]+; \d+ checks passed, \d failed:\n {2}endpoints: are LEGACY_URL and LEGACY_PATH right\?$/m,
    );
  });
});

test("--check gives its verdict while the disk of DATA_DIR hangs", async () => {
  const directory = temporaryFolder();
  const pipe = join(directory, `.check-${process.pid}`);
  spawnSync("mkfifo", [pipe]);
  const { rows, events, ready } = await checked(legacy.url, { DATA_DIR: directory }, { hint: 1, patience: 2 });
  // Calls that wait for the other end of the pipe go on; later calls find no pipe.
  const end = openSync(pipe, constants.O_RDWR);
  unlinkSync(pipe);
  closeSync(end);
  expect([ready, events["store_hangs"]]).toEqual([false, 1]);
  expect(rows).toContainEqual(
    expect.objectContaining({ name: "DATA_DIR", found: `${directory} cannot be used: its disk does not answer` }),
  );
});

test("--check writes to DATA_DIR, and leaves nothing in it", async () => {
  const directory = temporaryFolder();
  const good = await checked(legacy.url, { DATA_DIR: directory });
  const fresh = await checked(legacy.url, { DATA_DIR: join(directory, "new") });
  expect([good.ready, fresh.ready, readdirSync(directory)]).toEqual([true, true, []]);
  const { summary } = await checked(legacy.url, { DATA_DIR: "/proc/x" });
  expect(summary).toMatch(/ 1 failed:\n {2}DATA_DIR: correct DATA_DIR, its rights or its disk$/);
});

describe("--check finds a server before legacy that treats requests in different ways", () => {
  /**
   * A server before the sample that may answer in its place, or change the target; and the lines of the check about it.
   */
  const behind = async (
    front: (request: IncomingMessage) => { target?: string; answer?: number; isCoded?: boolean; body?: string } | void,
    environment: Record<string, string> = {},
  ) => {
    const url = await httpUpstream((request, response) => {
      const { target = request.url, answer: status, isCoded = false, body } = front(request) ?? {};
      const pass = async () => {
        const given = await fetch(legacy.url + target, { method: request.method ?? "GET" });
        const { "content-length": _, ...headers } = Object.fromEntries(given.headers);
        const text = body ?? (await given.text());
        response.writeHead(given.status, { ...headers, ...(isCoded && { "Content-Encoding": "gzip" }) });
        response.end(isCoded ? gzipSync(text) : text);
      };
      if (status === undefined) pass().catch(() => response.destroy());
      else response.writeHead(status, { "Content-Type": "text/html" }).end("<html>");
    });
    const { rows, ready } = await checked(url, environment);
    const shown = rows.filter(({ name }) => /^(legacy.+|before legacy|LEGACY_HOST|a key.*)$/.test(name));
    return { ready, lines: shown.map(({ result, name, found }) => `${result} ${name}: ${found}`), rows };
  };
  const fine = ["ok legacy, with Via: answered as without it", "ok legacy's probe: answered as reads are"];
  const named = "ok LEGACY_HOST: legacy names itself legacy.example; for this Host it answers 200";
  const posted = "ok legacy, by POST: answered";
  const keyed = expect.stringMatching(/^ok a key that cannot exist: not accepted/) as string;

  test("no finding if it treats all requests alike", async () => {
    expect(await behind(() => undefined)).toMatchObject({ ready: true, lines: [...fine, named, posted, keyed] });
  });

  test("it sends an interim answer to a POST, behind which no answer can be read", async () => {
    const { ready, lines } = await behind(({ method, socket }) => {
      if (method === "POST") socket.write("HTTP/1.1 100 Continue\r\n\r\n");
    });
    const found = /^FAIL legacy, by POST: .*\(no answer can be read behind an interim one, 100\)/;
    expect([ready, lines.filter((line) => line.startsWith("FAIL"))]).toEqual([false, [expect.stringMatching(found)]]);
  });

  test("it drops the query string, so that each key counts as good", async () => {
    const { ready, lines } = await behind(({ url }) => ({ target: url?.split("?", 1)[0] ?? "/" }));
    expect([ready, lines.at(-1)]).toEqual([false, "FAIL a key that cannot exist: legacy accepts it"]);
  });

  test("it compresses no answer to a request with Via", async () => {
    const { ready, lines } = await behind(({ headers }) => ({
      isCoded: headers.via === undefined && headers["accept-encoding"] === "gzip",
    }));
    expect([ready, lines[1]]).toEqual([true, expect.stringContaining("in nginx set gzip_proxied any")]);
  });

  test("it refuses requests with Via", async () => {
    const { ready, lines } = await behind(({ headers, url }) =>
      headers.via !== undefined && url?.includes("data") === true ? { answer: 403 } : undefined,
    );
    expect([ready, lines[0]]).toEqual([
      false,
      expect.stringMatching(/^FAIL legacy, with Via: 403 with Via, 200 without, GET \/data/),
    ]);
  });

  test("it answers the probe differently than a read", async () => {
    const { ready, lines } = await behind(({ headers, url }) =>
      headers["user-agent"] === "catalog-gateway" && url?.includes("evaluationmeasure") ? { answer: 429 } : undefined,
    );
    expect([ready, lines[1]]).toEqual([
      false,
      expect.stringMatching(/^FAIL legacy's probe: GET \/evaluationmeasure\/list is answered 429 and not by legacy/),
    ]);
  });

  test.each([
    [421, "FAIL", false],
    [404, "note", true],
  ])("it has no site of the name that legacy uses for its files: %i", async (status, result, isReady) => {
    const data_set_description = { id: "61", url: "https://catalogue.example/data/v1/download/61/iris.arff" };
    const front = ({ headers, url }: IncomingMessage) => {
      if (headers.host === "catalogue.example") return { answer: status };
      return /json\/data\/\d+$/.test(url ?? "") ? { body: JSON.stringify({ data_set_description }) } : undefined;
    };
    const { lines, rows } = await behind(front);
    const line = `${result} LEGACY_HOST: legacy names itself catalogue.example; for this Host it answers ${status}`;
    expect([lines.some((each) => each.startsWith(line)), lines]).toEqual([true, lines]);
    expect(rows.some((row) => row.result === "FAIL" && row.name === "LEGACY_HOST")).toBe(!isReady);
    const set = await behind(front, { LEGACY_HOST: "legacy.example" });
    expect(set.lines.filter((each) => each.includes("LEGACY_HOST"))).toEqual([
      "note LEGACY_HOST: legacy is addressed as legacy.example, and may redirect clients there: tell it its public name, if it is another one",
    ]);
  });
});
