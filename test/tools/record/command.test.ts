import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pair, readPairs } from "../../../fixtures/pairs.ts";
import { type SampleLegacy, startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { everythingIn, expectSound, run } from "./support.ts";
import { hostileTexts, terminalControls } from "../../support/hostileText.ts";
import { spawnProgram } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

let sample: SampleLegacy;
let at: string;

beforeAll(async () => {
  sample = await startSampleLegacy();
  at = `--legacy ${sample.url}`;
});
afterAll(() => sample.close());

const owner = "DA1A0000000000000000000000000000";
const secret = "aBcD0123456789aBcD0123456789aBcD";
const sampleKey = "0".repeat(32);
const only = (folder: string): Pair => {
  const [pair, ...others] = readPairs("*", folder);
  expect(others).toEqual([]);
  return pair as Pair;
};

test("npm run record writes a case that passes, and overwrites none without --force", async () => {
  const out = temporaryFolder();
  const given = ["--legacy", sample.url, "--out", out, "getDataset", "61", "as", "iris", "--about", "Iris."];
  const { ended, output } = spawnProgram({}, "record", ...given);
  expect([await ended, output.error]).toEqual([0, ""]);
  expect(output.out).toContain('  /creator  commaSeparated  "R.A. Fisher" -> ["R.A. Fisher"]\n');
  expect(output.out).toContain("written by the code under test: read it before you commit it.");
  expect(only(out)).toMatchObject({
    endpoint: "getDataset",
    example: "iris",
    about: "Iris.",
    ask: { method: "GET", path: "/datasets/61" },
    legacy: [{ request: { method: "GET", path: "/json/data/61" }, response: { status: 200, type: "json" } }],
    answer: { status: 200, body: { id: 61, name: "iris" } },
  });
  await expectSound(out);

  const again = `${at} getDataset 61 as iris`;
  const second = await run(again, { folder: out });
  expect([second.code, second.out]).toEqual([2, []]);
  expect(second.errors[0]).toMatch(/getDataset\.json has iris already; allowed is another name, or --force$/);
  expect((await run(`${again} --force`, { folder: out })).code).toBe(0);
  expect(only(out).about).toBe("Recorded from a legacy server: GET /datasets/61.");
});

/** Records, and checks that the cases pass as they were written. */
const recorded = async (args: string, environment: Record<string, string> = {}) => {
  const ended = await run(args, { environment });
  expect([ended.code, ended.errors]).toEqual([0, []]);
  await expectSound(ended.folder);
  return ended;
};

describe("the real requests to legacy are recorded", () => {
  const page = "GET /json/data/list/status/active/limit/5/offset/0";
  test.each([
    ["fields by their names", "listDatasets status=active limit=5 as five", [page]],
    ["an error", "getDataset 1000000 as unknown", ["GET /json/data/1000000"]],
    ["no request for an id that cannot exist", "getDataset 0 as zero", []],
    ["a request by form", "--key KEY findFlow name=a=b external_version=1 as form", ["POST /json/flow/exists"]],
  ])("record stores the real requests to legacy: %s", async (_, args, asked) => {
    const { ask, legacy } = only((await recorded(`${at} ${args}`, { KEY: sampleKey })).folder);
    expect(legacy.map(({ request }) => `${request.method} ${request.path}`)).toEqual(asked);
    expect(ask.key).toBe(args.includes("KEY") ? sampleKey : undefined);
  });

  test("record prints what the rules changed, with the place and the rule", async () => {
    const { out } = await recorded(`${at} findFlow name=no.such external_version=1 as one`);
    expect(out).toEqual(
      expect.arrayContaining([
        "  status  rejectDocument  200 -> 404",
        '  /  rejectDocument  {"flow_exists":{"exists":"false","id":"-1"}} -> {"detail":"Flow not found."}',
      ]),
    );
  });

  test("record stores legacy's XML where its JSON is broken", async () => {
    const xml =
      "<oml:evaluation_measures><oml:measures><oml:measure>a</oml:measure></oml:measures></oml:evaluation_measures>";
    const url = await httpUpstream((incoming, response) => {
      const isXml = incoming.url?.startsWith("/api/v1/xml/") === true;
      response.setHeader("Content-Type", isXml ? "text/xml" : "application/json");
      response.end(isXml ? xml : '<h4>A PHP Error was encountered</h4>{"evaluation_measures":{}}');
    });
    const { legacy, answer } = only((await recorded(`--legacy ${url} listEvaluationMeasures as noisy`)).folder);
    expect(legacy.map(({ response }) => response.type)).toEqual(["json", "xml"]);
    expect(answer).toEqual({ status: 200, body: ["a"] });
  });

  test("record stores no path of legacy's interface, where that begins elsewhere", async () => {
    const list = '{"evaluation_measures":{"measures":{"measure":"a"}}}';
    const url = await httpUpstream((incoming, response) =>
      response.end(incoming.url === "/old/rest/json/evaluationmeasure/list" ? list : ""),
    );
    const { folder } = await recorded(`--legacy ${url}/old/rest listEvaluationMeasures as one`);
    expect(only(folder).answer).toEqual({ status: 200, body: ["a"] });
  });
});

describe("secrets", () => {
  test("record asks with the owner's key, and stores the sample's in its place", async () => {
    const { out, folder } = await recorded(`${at} --key OWNER getDataset 16 as private`, { OWNER: owner });
    expect(only(folder).answer.status).toBe(200);
    expect(only(folder).legacy[0]?.request.key).toBe(sampleKey);
    expect(everythingIn(folder) + out.join()).not.toContain(owner);
  });

  test("record removes legacy's secrets from its files and its output", async () => {
    const hash = "5f4dcc3b5aa765d61d8327deb882cf99";
    const url = await httpUpstream(({ url: target = "" }, response) => {
      const data = {
        id: "7",
        name: "n",
        creator: `Ann <ann@uni.example>, ${secret}`,
        description: `ann@uni.example ${target} ${encodeURIComponent(target)} ci_session=${hash} api_key=${secret.toUpperCase()}`,
        md5_checksum: hash,
        session_hash: hash,
      };
      const headers = { "Set-Cookie": `ci_session=${hash}`, "Content-Type": "application/json" };
      response.writeHead(200, headers).end(JSON.stringify({ data_set_description: data }));
    });
    const args = `--legacy ${url} --key KEY --about by_ann@uni.example getDataset 7 as leaky`;
    const { out, folder } = await recorded(args, { KEY: secret });
    const everything = everythingIn(folder) + out.join("\n");
    expect(everything.toLowerCase()).not.toContain(secret.toLowerCase());
    expect(everything).not.toMatch(/ann@|ann%40|ci_session=5f/);
    expect(only(folder).answer.body).toMatchObject({
      creator: ["Ann <someone@example.org>", sampleKey],
      md5_checksum: hash,
      session_hash: sampleKey,
    });
  });

  test("record shows no --key that is wrong, and no password of a URL", async () => {
    const all = [
      await run(`${at} --key ${secret} getDataset 61 as iris`),
      await run(`${at} --key KEY getDataset 61 as iris`, { environment: { KEY: "hush-hush" } }),
      await run(`--legacy http://me:hush@legacy.example getDataset 61 as iris`),
      await run(`--legacy http://legacy.example/?hush getDataset 61 as iris`),
      await run(`${at} --hush=${secret} getDataset 61 as iris`),
    ];
    expect(all.map(({ code, errors, files }) => [code, errors.length, files])).toEqual(
      [1, 1, 1, 1, 2].map((count) => [2, count, []]),
    );
    expect(JSON.stringify(all.slice(0, 4).map(({ errors }) => errors))).not.toMatch(/hush|aBcD/);
  });
});

test("record exits with 1 for an answer that does not fit, written only with --force", async () => {
  const url = await httpUpstream((_, response) => response.end('{"data_set_description":{"id":"many"}}'));
  const args = `--legacy ${url} getDataset 61 as odd`;
  expect(await run(args)).toMatchObject({
    code: 1,
    files: [],
    errors: ["getDataset: the answer does not fit its schema: /id: invalid_type"],
  });
  const forced = await run(`${args} --force`);
  expect(forced).toMatchObject({ code: 1, files: ["getDataset.json"] });
  expect(only(forced.folder).answer.status).toBe(502);
  await expectSound(forced.folder);
});

describe("errors of the command line exit with 2, and say what is allowed", () => {
  test.each([
    ["getDatasets 61 as iris", "getDatasets: is getDataset meant?"],
    ["tagDataset data_id=61 tag=a as tagged", "tagDataset: allowed are those that read"],
    ["getDataset iris as iris", "dataset_id: value is not a valid integer; allowed are dataset_id (required)"],
    [
      "findFlow a as a",
      '"a": fields are given as name=value; allowed are name (required), external_version (required)',
    ],
    ["listDatasets nothing=1 as none", "nothing: extra fields not permitted; allowed are status, tag"],
    ["getDataset 61 as ../iris", "as: needed at the end is a name"],
    ["--ids 1..2 listDatasets as some", "--ids: allowed is an endpoint that answers for one id"],
    ["--corpus log as some", "log cannot be read: ENOENT"],
    ["--corpus log getDataset as some", "--corpus: allowed beside it is only"],
  ])("record exits with 2, and says what is allowed: %s", async (args, complaint) => {
    const { code, out, errors, files } = await run(`${at} ${args}`);
    expect([code, out, files]).toEqual([2, [], []]);
    expect(errors[0]).toContain(complaint);
  });

  test("record exits with 2 where legacy gives no answer that a fixture can hold", async () => {
    const broken = await httpUpstream((_, response) => void response.destroy());
    const latin = await httpUpstream((_, response) => response.end(Buffer.from([0x7b, 0xe9])));
    for (const url of ["http://127.0.0.1:1", broken, latin])
      for (const args of ["getDataset 61 as iris", "--ids 61..63 getDataset as some"]) {
        const { code, errors, files } = await run(`--legacy ${url} ${args}`);
        expect([code, errors.length, files]).toEqual([2, 1, []]);
        expect(errors[0]).toContain("The upstream");
      }
    expect((await run("getDataset 61 as iris")).errors[0]).toContain("required option '--legacy <url>' not specified");
  });

  test("record prints no control characters of legacy's, and stores them", async () => {
    const text = hostileTexts.join(" ");
    const dataset = { id: "61", name: text, version: "1", [text]: text };
    const url = await httpUpstream((_, response) => response.end(JSON.stringify({ data_set_description: dataset })));
    const { code, out, errors, folder } = await run(`--legacy ${url} getDataset 61 as evil`);
    expect([code, out.join("\n")]).toEqual([0, expect.stringMatching(/\\u\{1b\}/)]);
    for (const line of [...out, ...errors]) expect(line).not.toMatch(terminalControls);
    expect(only(folder).legacy[0]?.response.body).toContain(JSON.stringify("\u001b[31m").slice(1, -1));
  });
});

describe("several at once", () => {
  test("record --ids stores each answer that shows something new", async () => {
    const { folder } = await recorded(`${at} --ids 1..40 getDataset as seen`);
    const pairs = readPairs("*", folder);
    expect(pairs.length).toBeLessThan(40);
    expect(pairs.map(({ example }) => example)).toContain("seen-1");
    // Each status that the sample's datasets have, and both ways to write a list.
    expect(new Set(pairs.map(({ answer }) => answer.status))).toEqual(new Set([200, 403, 404, 412, 502]));
    const tags = pairs.map(({ legacy }) => /"tag":(\[?)/.exec(legacy[0]?.response.body ?? "")?.[1]);
    expect(new Set(tags)).toEqual(new Set(["", "[", undefined]));
    expect((await run(`${at} --ids 1..40 getDataset as seen`, { folder })).code).toBe(2);
  });

  const log = (): string => {
    const file = join(temporaryFolder(), "access.log");
    const post = JSON.stringify({ method: "POST", url: "/v1/datasets/list", request_body: '{"limit":2}' });
    const gets = "/v1/datasets/61 /v1/datasets/61 /v1/datasets/16?api_key=x /x".split(" ");
    writeFileSync(file, [...gets, post, "POST /v1/datasets/tag"].join("\n"));
    return file;
  };

  test("record --corpus sends a log's reads, without unknown ones and those with a key", async () => {
    const { folder } = await recorded(`${at} --corpus ${log()} as log`);
    expect(readPairs("*", folder).map(({ endpoint, ask }) => [endpoint, ask.path])).toEqual([
      ["getDataset", "/datasets/61"],
      ["listDatasets", "/datasets/list"],
    ]);
  });

  test("record --ids leaves out answers that do not fit, and exits with 1", async () => {
    const url = await httpUpstream(({ url: target }, response) =>
      response.end(`{"data_set_description":{"id":"${target?.at(-1) === "2" ? "two" : target?.at(-1)}"}}`),
    );
    const some = await run(`--legacy ${url} --ids 1..3 getDataset as some`);
    expect([some.code, readPairs("*", some.folder).length]).toEqual([1, 1]);
    expect(some.errors).toEqual(["getDataset: the answer does not fit its schema: /id: invalid_type"]);
    expect(await run(`--legacy ${url} --ids 2..2 getDataset as none`)).toMatchObject({ code: 1, files: [] });
  });
});
