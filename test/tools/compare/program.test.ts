import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startStandIn } from "../../standIn/program/startStandIn.ts";
import { startSampleLegacy } from "../../../src/tools/sampleLegacy/startSampleLegacy.ts";
import type { Report } from "../../../src/compare/report.ts";
import { readCompareOptions } from "../../../src/tools/compare/options.ts";
import { prepareRun } from "../../../src/tools/compare/prepare.ts";
import type { JsonObject } from "../../../src/rules/rule.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { gatewayFor } from "../../support/gateway.ts";

const main = join(import.meta.dirname, "../../../src/tools/compare/main.ts");
const closing: (() => unknown)[] = [];

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

let legacy: string;
/** Serves the new interface over the sample, and changes its documents as a test wants. */
const candidate = async (change: (document: JsonObject, path: string) => unknown): Promise<string> => {
  const gateway = await gatewayFor(legacy, { CACHE_BYTES: "0" });
  closing.push(() => gateway.close());
  return serve((incoming, response) => {
    void (async () => {
      const path = incoming.url ?? "";
      const answer = await gateway.app.request(`/v1${path}`, { method: incoming.method ?? "GET" });
      const body = (await answer.json()) as JsonObject;
      const changed = answer.status === 200 ? (change(body, path) ?? body) : body;
      response.writeHead(answer.status, { "Content-Type": "application/json" }).end(JSON.stringify(changed));
    })();
  });
};

beforeAll(async () => {
  const sample = await startSampleLegacy();
  closing.push(() => sample.close());
  legacy = sample.url;
});
afterAll(async () => {
  for (const close of closing) await close();
});

const compare = (args: string[], environment: Record<string, string> = {}) => {
  const out = mkdtempSync(join(tmpdir(), "compare-"));
  const child = spawn(process.execPath, [main, "--out", out, ...args], {
    env: { PATH: process.env["PATH"], ...environment },
  });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => void (output.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (output.err += chunk.toString()));
  // A run of more than ten seconds tells how far it is.
  child.once("close", () => void (output.err = output.err.replaceAll(/^\d+ of \d+ compared, .*\n/gm, "")));
  const ended = new Promise<number | null>((resolve) => void child.on("close", resolve));
  const report = () => JSON.parse(readFileSync(join(out, "report.json"), "utf8")) as Report;
  return { child, out, output, ended, report };
};

/** The options that hold a candidate against the sample, over some datasets. */
const datasets = (url: string, ids: string): string[] =>
  `--legacy ${legacy} --candidate ${url} --ids ${ids} --endpoint getDataset`.split(" ");

const written = (directory: string): string =>
  readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), "utf8"))
    .join("\n");

describe.concurrent("exit codes", { timeout: 120_000 }, () => {
  test("0 where everything is explained: the examples over the sample legacy", async () => {
    const { ended, report, out, output } = compare([]);
    expect([await ended, output.err]).toEqual([0, ""]);
    expect(report().summary).toMatchObject({ unexplained: 0, failed: 0, drift: 0 });
    expect(report().summary.compared).toBeGreaterThan(10);
    expect(output.out).toContain("Nothing unexplained");
    expect(readdirSync(out).toSorted()).toEqual(["junit.xml", "report.html", "report.json", "summary.md"]);
  });

  test("0 for a candidate that answers as expected, ids over all endpoints of one", async () => {
    const url = await candidate((document) => document);
    const { ended, report } = compare(["--legacy", legacy, "--candidate", url, "--ids", "61..70"]);
    expect(await ended).toBe(0);
    const { summary, endpoints } = report();
    expect(summary).toMatchObject({ compared: 30, equal: 30 });
    expect(Object.keys(endpoints)).toEqual(["getDataset", "getSetup", "getStudy"]);
  });

  test("1 for a wrong candidate that answers for the gateway too: legacy is the measure", async () => {
    const url = await candidate((document) => ({ ...document, version: 7 }));
    const staged = { MODERN_URL: url, STAGES: '{"getDataset":{"stage":"modern"}}' };
    const { ended, report } = compare(datasets(url, "61"), staged);
    const alone = compare(["--legacy", legacy, "--ids", "61", "--endpoint", "getDataset"], staged);
    expect([await ended, await alone.ended]).toEqual([1, 0]);
    expect(report().summary).toMatchObject({ compared: 1, unexplained: 1 });
  });

  test("0 for the reference implementation on its own routes, as the ledger says", async () => {
    const reference = await startStandIn({ legacyUrl: legacy, reference: true });
    closing.push(() => reference.close());
    const sides = ["--legacy", legacy, "--candidate", reference.url];
    const modern = compare([...sides, "--modern"]);
    const keyed = compare([...sides, "--modern", "--ids", "16", "--endpoint", "getDataset", "--key", "MY_KEY"], {
      MY_KEY: "DA1A0000000000000000000000000000",
    });
    const asItWas = compare([...sides, "--endpoint", "listEvaluationMeasures"]);
    expect([await modern.ended, modern.output.err]).toEqual([0, ""]);
    expect(modern.report().summary).toMatchObject({ unexplained: 0, failed: 0 });
    expect(modern.report().summary.compared).toBeGreaterThan(10);
    expect([await keyed.ended, keyed.report().endpoints["getDataset"]?.compared]).toEqual([0, 1]);
    expect(await asItWas.ended).toBe(1);
  });

  test("by the ledger that ships, by another, or by none", async () => {
    const url = await candidate((document) => ({ ...document, version_label: document["version_label"] ?? "" }));
    const shipped = compare(datasets(url, "61..70"));
    const none = compare([...datasets(url, "61..70"), "--expected", "none"]);
    const file = join(none.out, "ledger.json");
    writeFileSync(file, "[]");
    const configured = compare(datasets(url, "61..70"), { EXPECTED_DIFFERENCES: file });
    expect([await shipped.ended, shipped.report().summary]).toEqual([
      0,
      expect.objectContaining({ unexplained: 0, compared: 10 }),
    ]);
    expect(shipped.report().summary.expected).toBeGreaterThan(0);
    expect([await none.ended, await configured.ended]).toEqual([1, 1]);
  });

  test("1 for planted differences: each is reported once, with a pair of curls", async () => {
    const url = await candidate((document) => {
      document["version"] = `${document["version"] as number}`;
      delete document["licence"];
    });
    const { ended, report, output } = compare([
      "--legacy",
      `${legacy}/api/v1`,
      "--candidate",
      url,
      "--ids",
      "61",
      "--endpoint",
      "getDataset",
    ]);
    expect(await ended).toBe(1);
    const { summary, differences } = report();
    expect(summary).toMatchObject({ compared: 1, unexplained: 1 });
    expect(new Set(differences.map(({ path, form, kind }) => `${path} ${form} ${kind}`))).toEqual(
      new Set(["/licence missing unexplained", "/version type unexplained"]),
    );
    expect(differences[0]?.curl).toEqual({
      legacy: `curl -si ${legacy}/api/v1/json/data/61`,
      candidate: `curl -si ${url}/datasets/61`,
    });
    expect(output.out).toContain(`curl -si ${url}/datasets/61`);
  });

  test("0 where the ledger expects it", async () => {
    const url = await candidate((document) => void (document["version"] = `${document["version"] as number}`));
    const file = join(mkdtempSync(join(tmpdir(), "ledger-")), "ledger.json");
    const entry = {
      id: "text-versions",
      endpoint: "getDataset",
      path: "/version",
      kind: "type",
      reason: "a known bug",
      owner: "us",
      until: "2999-01-01",
    };
    writeFileSync(file, JSON.stringify([entry]));
    const { ended, report } = compare([...datasets(url, "61"), "--expected", file]);
    expect(await ended).toBe(0);
    expect(report().summary).toMatchObject({ compared: 1, expected: 1, unexplained: 0 });
  });

  test.each<[string, string[], string]>([
    ["an option that is unknown", ["--nothing"], "--nothing"],
    [
      "a ledger that is not there",
      ["--expected", "/nowhere/at/all"],
      "--expected: /nowhere/at/all cannot be read (ENOENT)",
    ],
    ["a legacy server that is not there", ["--legacy", "http://127.0.0.1:1"], "questions could not be compared"],
  ])("2 for %s", async (_, args, message) => {
    const { ended, output } = compare(args);
    expect([await ended, output.err]).toEqual([2, expect.stringContaining(message)]);
  });
});

/** What is wrong with these options, or with what they name; the program prints it and exits with 2. */
const errorsOf = (args: string[]): string => {
  const options = readCompareOptions(args, Object.keys(catalogue.endpoints));
  if (options === "help") return "help";
  const prepared = "errors" in options ? options : prepareRun(options, {}, catalogue);
  return "errors" in prepared ? prepared.errors.join("\n") : "nothing";
};

describe("what cannot run is told with what is allowed", () => {
  test.each<[string, string[], string]>([
    ["no URL", ["--legacy", "legacy.example"], '--legacy: "legacy.example" given; allowed is a URL'],
    ["an unknown endpoint", ["--endpoint", "getNothing"], '--endpoint: "getNothing" given; allowed are getDataset, '],
    ["no ids", ["--ids", "a..b"], "--ids: "],
    ["no corpus", ["--corpus", "/nowhere/at/all"], "--corpus: /nowhere/at/all cannot be read"],
    ["no variable", ["--key", "NOT_SET_AT_ALL"], "--key: no environment variable"],
    ["no candidate", ["--modern"], "--modern: given without --candidate"],
    ["no number", ["--limit", "all"], '--limit: "all" given; allowed is a number from 1'],
    ["both kinds of questions", ["--ids", "1", "--corpus", "x"], "allowed is one of them"],
  ])("%s", (_, args, message) => {
    expect(errorsOf(args)).toContain(message);
  });
});

test.concurrent("0 where the ledger expects what legacy alone does", async () => {
  const odd = await serve((incoming, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ data_set_description: { id: "no number", name: incoming.url } }));
  });
  const file = join(mkdtempSync(join(tmpdir(), "ledger-")), "ledger.json");
  writeFileSync(
    file,
    JSON.stringify([
      { id: "odd", endpoint: "*", path: "/id", kind: "*", reason: "known", owner: "us", until: "2999-01-01" },
      { id: "odd-status", endpoint: "*", path: "status", kind: "*", reason: "known", owner: "us", until: "2999-01-01" },
    ]),
  );
  const { ended, report } = compare(["--legacy", odd, "--ids", "1", "--endpoint", "getDataset", "--expected", file]);
  expect(await ended).toBe(0);
  expect(report().summary).toMatchObject({ compared: 1, expected: 1 });
});

test.concurrent("1 for a candidate that breaks off its answers", async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { "Content-Length": "1000" });
    response.write("{");
    setTimeout(() => response.destroy(), 5);
  });
  const { ended, report, output } = compare(datasets(url, "61,1"));
  expect(await ended).toBe(1);
  expect(report().summary).toMatchObject({ compared: 2, unexplained: 2, failed: 0 });
  expect(output.out).toContain("the candidate gives no answer");
});

test.concurrent("2 for an output folder that cannot be written, before a server is asked", async () => {
  const asked: string[] = [];
  const url = await serve((incoming, response) => {
    asked.push(incoming.url ?? "");
    response.end("{}");
  });
  const file = join(mkdtempSync(join(tmpdir(), "out-")), "file");
  writeFileSync(file, "");
  const { ended, output } = compare(["--legacy", url, "--out", join(file, "reports")]);
  expect([await ended, output.err]).toEqual([2, expect.stringMatching(/ENOTDIR|EEXIST/)]);
  expect(asked).toEqual([]);
});

test.concurrent("the gateway's own key is in nothing that is written or printed either", async () => {
  const key = "S3rv1ceKeyS3rv1ceKey";
  const url = await serve((incoming, response) => {
    let body = "";
    incoming.on("data", (chunk: Buffer) => void (body += chunk.toString()));
    incoming.on("end", () => {
      response.writeHead(412, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ error: { code: "9999", message: `debug: ${body} ${key.toUpperCase()}` } }));
    });
  });
  const corpus = join(mkdtempSync(join(tmpdir(), "corpus-")), "urls.txt");
  writeFileSync(corpus, "/v1/flow/exists/a%3Db/1\n");
  const { ended, out, output } = compare(["--legacy", url, "--corpus", corpus], { LEGACY_API_KEY: key });
  expect(await ended).toBe(1);
  const everything = written(out) + output.out + output.err;
  expect(everything).toContain("(key)");
  expect(everything).not.toMatch(new RegExp(key, "i"));
});

test.concurrent("a mismatch that has gone when asked again is drift", async () => {
  const asked = new Map<string, number>();
  const url = await candidate((document, path) => {
    asked.set(path, (asked.get(path) ?? 0) + 1);
    if (asked.get(path) === 1) document["name"] = "another";
  });
  const { ended, report } = compare(datasets(url, "61"));
  expect(await ended).toBe(0);
  expect(report().summary).toMatchObject({ compared: 1, drift: 1, unexplained: 0 });
});

test.concurrent("the key goes to both sides, and is in nothing that is written or printed", async () => {
  const key = "aBcD0123aBcD0123aBcD0123aBcD0123";
  const seen: string[] = [];
  const echo = (name: string) =>
    serve((incoming, response) => {
      seen.push(`${name} ${incoming.url} ${incoming.headers["x-api-key"]?.toString() ?? ""}`);
      const id = /\d+(?=$|\?)/.exec(incoming.url ?? "")?.[0] ?? "1";
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(
        JSON.stringify({
          data_set_description: {
            id,
            name: incoming.url,
            description: `${key} ${JSON.stringify(incoming.headers)}`,
            [key]: key,
          },
        }),
      );
    });
  const { ended, out, output } = compare(
    [
      "--legacy",
      await echo("legacy"),
      "--candidate",
      await echo("candidate"),
      "--ids",
      "1..3",
      "--endpoint",
      "getDataset",
      "--key",
      "MY_KEY",
    ],
    { MY_KEY: key },
  );
  expect(await ended).toBe(1);
  expect(seen.some((line) => line.startsWith("legacy /api/v1/json/data/1?api_key=") && line.includes(key))).toBe(true);
  expect(seen.some((line) => line === `candidate /datasets/1 ${key}`)).toBe(true);
  const everything = written(out) + output.out + output.err;
  expect(everything).toContain("$MY_KEY");
  expect(everything).not.toContain(key);
});

test.concurrent("interrupted, the same command goes on where it was, and comes to the same", async () => {
  const asked: string[] = [];
  let wait = 30;
  const inner = await candidate((document) => void (document["version"] = `${document["version"] as number}`));
  const url = await serve((incoming, response) => {
    asked.push(incoming.url ?? "");
    void (async () => {
      await sleep(wait);
      const answer = await fetch(inner + incoming.url);
      response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
    })();
  });
  const args = ["--legacy", legacy, "--candidate", url, "--ids", "1..30", "--concurrency", "2"];
  const first = compare(args);
  while (asked.length < 15) await sleep(5);
  first.child.kill("SIGINT");
  expect([await first.ended, first.output.err]).toEqual([
    2,
    expect.stringContaining("the same command goes on from there"),
  ]);
  expect(existsSync(join(first.out, "report.json"))).toBe(false);
  const before = asked.length;
  wait = 0;
  const [second, whole] = [compare([...args, "--out", first.out]), compare(args)];
  expect([await second.ended, await whole.ended]).toEqual([1, 1]);
  expect(second.output.err).toContain("going on after");
  expect(existsSync(join(first.out, "interrupted.json"))).toBe(false);
  const report = JSON.parse(readFileSync(join(first.out, "report.json"), "utf8")) as Report;
  expect(report.summary).toEqual(whole.report().summary);
  expect(report.differences).toEqual(whole.report().differences);
  // Each of 90 questions is asked once more where it is a mismatch, at most.
  expect(asked.length - before).toBeLessThan(2 * 90 * 2);
  expect(before).toBeLessThan(90);
});

test.concurrent("--help tells every option", async () => {
  const { ended, output } = compare(["--help"]);
  expect(await ended).toBe(0);
  for (const option of [
    "--legacy",
    "--candidate",
    "--endpoint",
    "--ids",
    "--corpus",
    "--limit",
    "--key",
    "--expected",
    "--rate",
    "--concurrency",
    "--out",
    "--fresh",
  ])
    expect(output.out).toContain(option);
});
