import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idRequests } from "../../../tools/corpus/madeRequests.ts";
import { endpoints } from "../../../transforms/index.ts";
import { startStandIn } from "../../standIn/startStandIn.ts";
import type { JsonObject } from "../../../src/catalogue/rules/rule.ts";
import type { Report } from "../../../tools/compare/report/report.ts";
import { compare, openServers, reportOf } from "./support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const { serve, candidate, datasets, closing, legacy } = openServers();

/** The path of a ledger with these entries. */
const ledger = (entries: object[]): string => {
  const file = join(temporaryFolder(), "ledger.json");
  writeFileSync(file, JSON.stringify(entries));
  return file;
};

/** The counts with which the program exits with 0. */
const passes = { unexplained: 0, failed: 0 };

describe.concurrent("a comparison", () => {
  test("compare explains every difference of the examples of all endpoints", async () => {
    const { code, out, file } = await compare([]);
    const { summary } = JSON.parse(file("report.json")) as Report;
    expect([code, summary]).toMatchObject([0, { ...passes, drift: 0 }]);
    expect(summary.compared).toBeGreaterThan(0);
    expect(out).toContain("Nothing unexplained");
  });

  test("compare --ids passes a right candidate, on every endpoint with an id", async () => {
    const url = await candidate((document) => document);
    const sides = ["--legacy", legacy(), "--candidate", url];
    const { summary, endpoints: compared } = await reportOf([...sides, "--ids", "61,62"]);
    const byId = Array.from(idRequests(endpoints, [61]), ({ endpoint }) => endpoint);
    expect(byId).toEqual(expect.arrayContaining(["getDataset", "getSetup", "getStudy"]));
    expect(summary).toMatchObject({ ...passes, compared: 2 * byId.length, equal: 2 * byId.length });
    expect(Object.keys(compared)).toEqual(byId);
  });

  test("compare takes legacy as the measure, also where the candidate is in stage modern", async () => {
    const url = await candidate((document) => ({ ...document, version: 7 }));
    const staged = { MODERN_URL: url, STAGES: '{"getDataset":{"stage":"modern"}}' };
    const { summary } = await reportOf(datasets(url, "61"), staged);
    expect(summary).toMatchObject({ compared: 1, unexplained: 1 });
  });

  test("compare passes the reference implementation on its routes, by its ledger", async () => {
    const reference = await startStandIn({ legacyUrl: legacy(), reference: true });
    closing.push(() => reference.close());
    const sides = ["--legacy", legacy(), "--candidate", reference.url, "--expected", "reference"];
    const environment = { MY_KEY: "DA1A0000000000000000000000000000" };
    const [modern, keyed, asItWas] = await Promise.all([
      reportOf([...sides, "--modern"]),
      reportOf([...sides, "--modern", "--ids", "16", "--endpoint", "getDataset", "--key", "MY_KEY"], environment),
      reportOf([...sides, "--endpoint", "listEvaluationMeasures"]),
    ]);
    expect(modern.summary).toMatchObject(passes);
    expect(modern.summary.compared).toBeGreaterThan(0);
    expect(keyed.summary).toMatchObject({ ...passes, compared: 1 });
    expect(asItWas.summary.unexplained).toBeGreaterThan(0);
  });

  test("compare --expected takes none, the reference's ledger or a file", async () => {
    const url = await candidate((document) => ({ ...document, version_label: document["version_label"] ?? "" }));
    const asked = datasets(url, "61..70");
    const EXPECTED_DIFFERENCES = "reference";
    const [unset, none, configured, other, ...references] = await Promise.all([
      reportOf(asked),
      reportOf([...asked, "--expected", "none"], { EXPECTED_DIFFERENCES }),
      reportOf(asked, { EXPECTED_DIFFERENCES: ledger([]) }),
      reportOf([...asked, "--expected", ledger([])], { EXPECTED_DIFFERENCES }),
      reportOf(asked, { EXPECTED_DIFFERENCES }),
      reportOf([...asked, "--expected", "reference"]),
    ]);
    for (const { summary } of [unset, none, configured, other]) expect(summary.unexplained).toBeGreaterThan(0);
    for (const { summary } of references) {
      expect(summary).toMatchObject({ ...passes, compared: 10 });
      expect(summary.expected).toBeGreaterThan(0);
    }
  });

  test("compare passes a difference that the ledger expects, without a candidate", async () => {
    const odd = await serve((incoming, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ data_set_description: { id: "no number", name: incoming.url } }));
    });
    const file = ledger([
      { id: "odd", endpoint: "*", path: "/id", kind: "*", reason: "known", owner: "us", until: "2999-01-01" },
      { id: "odd-status", endpoint: "*", path: "status", kind: "*", reason: "known", owner: "us", until: "2999-01-01" },
    ]);
    const asked = ["--legacy", odd, "--ids", "1", "--endpoint", "getDataset"];
    const { summary } = await reportOf([...asked, "--expected", file]);
    expect(summary).toMatchObject({ ...passes, compared: 1, expected: 1 });
  });

  test("compare explains a list that a gateway would read in a thread", async () => {
    const quality = Array.from({ length: 1000 }, (_, i) => `Quality${i}`.padEnd(310, "s"));
    const body = JSON.stringify({ data_qualities_list: { quality } });
    const large = await serve((_, response) => {
      response.writeHead(200, { "Content-Type": "application/json" }).end(body);
    });
    const { summary } = await reportOf(["--legacy", large, "--endpoint", "listQualities"]);
    expect(summary).toMatchObject({ ...passes, compared: 1 });
  });

  test("compare reports the variants of fields, and the fields that no rule reads", async () => {
    const documents = [
      `{"id":"1","name":"a","tag":"one","new_field":["a"],"__proto__":1,"constructor":2,"a/b":3}`,
      `{"id":"2","name":"","tag":["a","b"],"version":{"a":1}}`,
      JSON.stringify({ id: "3", ...Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, "x"])) }),
    ];
    const odd = await serve(({ url = "" }, response) => {
      const document = documents[Number(/\/data\/(\d)/.exec(url)?.[1]) - 1];
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(`{"data_set_description":${document},"more":1}`);
    });
    const asked = ["--legacy", odd, "--ids", "1..3", "--endpoint", "getDataset", "--concurrency", "1"];
    const { coverage, schemaDrift } = await reportOf(asked);
    const seenAt = (wanted: string) => coverage.find(({ path }) => path === wanted);
    expect(seenAt("/name")).toMatchObject({
      legacyPath: "data_set_description.name",
      seen: { text: 1, empty: 1, none: 1 },
      rules: ["nullable", "text"],
      declared: ["text", "null"],
      never: [],
      documents: 3,
    });
    expect(seenAt("/tag")).toMatchObject({ seen: { text: 1, many: 1, none: 1 }, never: [] });
    expect(seenAt("/tag/*")).toMatchObject({ documents: 3, seen: { text: 3 } });
    expect(seenAt("/error")).toMatchObject({ seen: { none: 3 }, never: ["a value"], examples: [] });
    expect(schemaDrift.length).toBeLessThan(5000);
    expect(schemaDrift.slice(0, 6).map(({ path, seen, rules }) => [path, seen, rules.length])).toEqual([
      ["/version", { object: 1, none: 2 }, 2],
      ["/more", { number: 3 }, 0],
      ["/new_field", { one: 1 }, 0],
      ["/__proto__", { number: 1 }, 0],
      ["/constructor", { number: 1 }, 0],
      ["/a~1b", { number: 1 }, 0],
    ]);
  });

  test("compare counts a mismatch only if it is still there when checked again", async () => {
    const times = new Map<string, number>();
    const script: Record<string, (document: JsonObject, time: number) => unknown> = {
      "/datasets/61": (document, time) => time === 1 && void (document["name"] = "another"),
      "/datasets/1": (document, time) => void (document[time === 1 ? "name" : "status"] = "another"),
      "/datasets/2": (document, time) => {
        document["name"] = "another";
        if (time === 1) document["status"] = "another";
      },
      // A GET that broke off is sent once more: both attempts are one answer that does not come.
      "/datasets/3": (_, time) => (time <= 2 ? "break off" : undefined),
    };
    const url = await candidate((document, path) => {
      times.set(path, (times.get(path) ?? 0) + 1);
      return script[path]?.(document, times.get(path) ?? 0) || undefined;
    });
    const { summary, differences } = await reportOf([...datasets(url, "61,1,2,3,4"), "--expected", "none"]);
    expect(Object.fromEntries(times)).toEqual({
      "/datasets/61": 2,
      "/datasets/1": 2,
      "/datasets/2": 2,
      "/datasets/3": 3,
      "/datasets/4": 1,
    });
    expect(summary).toMatchObject({ compared: 5, drift: 3, unexplained: 1, equal: 1 });
    expect(differences.map(({ path, kind, answers }) => `${path} ${kind} ${answers}`).toSorted()).toEqual([
      " drift 1",
      "/name drift 2",
      "/name unexplained 1",
      "/status drift 2",
    ]);
  });
});

/** All that a comparison has written and printed. */
const everythingOf = ({ folder, out, errors }: Awaited<ReturnType<typeof compare>>): string =>
  [...readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")), out, errors].join("\n");

describe.concurrent("a key", () => {
  test("compare sends its --key to both sides, and neither writes nor prints it", async () => {
    const key = "aBcD0123aBcD0123aBcD0123aBcD0123";
    const seen: string[] = [];
    const echo = (name: string) =>
      serve(({ url = "", headers }, response) => {
        seen.push(`${name} ${url} ${headers["x-api-key"]?.toString() ?? ""}`);
        const [id = "1"] = /\d+(?=$|\?)/.exec(url) ?? [];
        const description = `${key} ${JSON.stringify(headers)}`;
        response.writeHead(200, { "Content-Type": "application/json" });
        response.end(JSON.stringify({ data_set_description: { id, name: url, description, [key]: key } }));
      });
    const sides = ["--legacy", await echo("legacy"), "--candidate", await echo("candidate")];
    const made = ["--ids", "1..3", "--endpoint", "getDataset", "--key", "MY_KEY"];
    const ended = await compare([...sides, ...made], { MY_KEY: key });
    expect(ended.code).toBe(1);
    expect(seen.some((line) => line.startsWith(`legacy /api/v1/json/data/1?api_key=${key}`))).toBe(true);
    expect(seen).toContain(`candidate /datasets/1 ${key}`);
    expect(everythingOf(ended)).toContain("$MY_KEY");
    expect(everythingOf(ended)).not.toContain(key);
  });

  test("compare neither writes nor prints LEGACY_API_KEY", async () => {
    const key = "S3rv1ceKeyS3rv1ceKey";
    const url = await serve((incoming, response) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => void (body += chunk.toString()));
      incoming.on("end", () => {
        response.writeHead(412, { "Content-Type": "application/json" });
        response.end(JSON.stringify({ error: { code: "9999", message: `debug: ${body} ${key.toUpperCase()}` } }));
      });
    });
    const corpus = join(temporaryFolder(), "urls.txt");
    writeFileSync(corpus, "/v1/flow/exists/a%3Db/1\n");
    const ended = await compare(["--legacy", url, "--corpus", corpus], { LEGACY_API_KEY: key });
    expect(ended.code).toBe(1);
    expect(everythingOf(ended)).toContain("(key)");
    expect(everythingOf(ended)).not.toMatch(new RegExp(key, "i"));
  });
});

test.concurrent("compare exits with 1 for a candidate that breaks off its answers", async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { "Content-Length": "1000" });
    response.write("{", () => response.destroy());
  });
  const { code, out, file } = await compare(datasets(url, "61,1"));
  expect(code).toBe(1);
  expect((JSON.parse(file("report.json")) as Report).summary).toMatchObject({ compared: 2, unexplained: 2, failed: 0 });
  expect(out).toContain("the candidate gives no answer");
});

describe.concurrent("an answer of legacy that no format can read", () => {
  /** The sample, but dataset 1 is unreadable `times` times, and readable then. */
  const broken = (times: number) =>
    serve(({ url = "" }, response) => {
      void (async () => {
        const isBroken = /\/data\/1(\?|$)/.test(url) && times-- > 0;
        const answer = isBroken ? new Response("<b>Fatal error</b>") : await fetch(legacy() + url);
        response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
      })();
    });
  const unread = { id: "known", path: "unreadable", reason: "broken", owner: "us", until: "2999-01-01" };

  test.each<[title: string, hasCandidate: boolean]>([
    ["legacy alone", false],
    ["with a candidate", true],
  ])("compare exits with 1 for an unreadable answer, unless it is expected: %s", async (_, hasCandidate) => {
    const candidates = hasCandidate ? ["--candidate", await candidate(() => undefined)] : [];
    const sides = ["--legacy", await broken(Infinity), ...candidates, "--ids", "1,2", "--endpoint", "getDataset"];
    const expecting = (endpoint: string) =>
      compare([...sides, "--expected", ledger([{ ...unread, endpoint, kind: "*" }])]);
    const [expected, { code, out, file }] = await Promise.all([expecting("getDataset"), expecting("getStudy")]);
    const { summary, failures } = JSON.parse(file("report.json")) as Report;
    expect([code, out]).toEqual([1, expect.stringMatching(/^Nothing unexplained in 1 answer; 1 unreadable\n/)]);
    expect(summary).toMatchObject({ ...passes, compared: 1, unreadable: 1 });
    expect(failures).toMatchObject([{ endpoint: "getDataset", kind: "unreadable", count: 1 }]);
    expect(file("report.html")).toContain("cannot be read");
    const allowed = { ...passes, compared: 2, expected: 1, unreadable: 0 };
    expect([expected.code, JSON.parse(expected.file("report.json"))]).toMatchObject([0, { summary: allowed }]);
  });

  test("compare exits with 1 where the only answer is unreadable", async () => {
    const { code, out } = await compare(["--legacy", await broken(9), "--ids", "1", "--endpoint", "getDataset"]);
    expect([code, out]).toEqual([1, expect.stringMatching(/^Nothing was compared; 1 unreadable\n/)]);
  });

  test("compare counts an unreadable answer only if it is still so when asked again", async () => {
    // Both formats are asked for.
    const { code, file } = await compare(["--legacy", await broken(2), "--ids", "1", "--endpoint", "getDataset"]);
    expect([code, JSON.parse(file("report.json"))]).toMatchObject([0, { summary: { compared: 1, unreadable: 0 } }]);
  });
});

const ofFlow = ["--endpoint", "findFlow"];
const noSuchFlow = "Flow not found.";
const noSuchDataset = { code: "111", message: "Unknown dataset" };
/** All candidates answer 404, also where legacy has the flow. */
const isThere = "status unexplained";

test.concurrent.each<[title: string, detail: unknown, args: string[], differences: string[]]>([
  ["modern's router", "Not Found", ["--modern", ...ofFlow], [isThere, "/detail unexplained"]],
  [
    "modern's router, as the reference's ledger has it",
    "Not Found",
    ["--modern", ...ofFlow, "--expected", "reference"],
    [isThere, "served unexplained", "/detail expected"],
  ],
  ["a gateway's router", "Not Found", ofFlow, [isThere, "/detail unexplained"]],
  ["a gateway for this endpoint", noSuchFlow, ofFlow, [isThere]],
  ["modern by legacy's code", noSuchDataset, ["--modern", "--endpoint", "getDataset", "--ids", "1000000"], []],
  [
    "modern in other words, with any ledger",
    { ...noSuchDataset, message: "Not here." },
    ["--modern", "--endpoint", "getDataset", "--ids", "1000000", "--expected", "reference"],
    ["/detail/message unexplained"],
  ],
])("compare judges a 404 by %s as a caller would see it", async (_, detail, args, expected) => {
  const url = await serve((_request, response) => {
    response.writeHead(404, { "Content-Type": "application/json" }).end(JSON.stringify({ detail }));
  });
  const { differences } = await reportOf(["--legacy", legacy(), "--candidate", url, ...args]);
  expect(differences.map(({ path, kind }) => `${path} ${kind}`)).toEqual(expected);
});

describe.concurrent("a comparison that cannot run exits with 2, and says what is allowed", () => {
  test.each<[string, string[], string]>([
    ["an unknown option", ["--nothing"], "unknown option '--nothing'"],
    [
      "no ledger",
      ["--expected", "/nowhere/at/all"],
      "--expected: /nowhere/at/all given; allowed is the path of a JSON list of entries, or reference: it cannot be read (ENOENT)",
    ],
    ["no URL", ["--legacy", "legacy.example"], "legacy.example is no URL such as"],
    ["a password", ["--legacy", "http://me:hush@legacy.example"], "(not shown)@legacy.example is no URL"],
    ["an unknown endpoint", ["--endpoint", "getNothing"], "Allowed are getDataset, "],
    ["a typing error in an endpoint", ["--endpoint", "getDatset"], "Is getDataset meant?"],
    ["no ids", ["--ids", "a..b"], "--ids: allowed are"],
    ["no corpus", ["--corpus", "/nowhere/at/all"], "/nowhere/at/all cannot be read: ENOENT"],
    ["no variable", ["--key", "NOT_SET_AT_ALL"], "--key: no environment variable"],
    ["no candidate", ["--modern"], "--modern: given without --candidate"],
    ["no number", ["--limit", "all"], "Allowed is a number from 1"],
    ["two kinds of requests", ["--ids", "1", "--corpus", "x"], "cannot be used with option"],
    ["no folder", ["--legacy", "http://127.0.0.1:1", "--out", "package.json/reports"], "ENOTDIR"],
    ["a wrong setting", ["--legacy", "http://127.0.0.1:1/a b"], "is no URL"],
  ])("compare exits with 2, and says what is allowed: %s", async (_, args, message) => {
    const { code, errors } = await compare(args);
    expect([code, errors]).toEqual([2, expect.stringContaining(message)]);
    expect(errors).not.toContain("hush");
  });
});
