import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { sampleCommand } from "../../../tools/sampleLegacy/command.ts";
import { outageForms } from "../../../tools/sampleLegacy/outages.ts";
import { type SampleLegacy, startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../../gateway/http/support.ts";
import { spawnProgram } from "../../support/program.ts";
import { runTool } from "../runTool.ts";

let legacy: SampleLegacy;
beforeAll(async () => (legacy = await startSampleLegacy()));
afterAll(() => legacy.close());

const key = "00000000000000000000000000000000";
const control = async (method: string, path = "", url = legacy.url): Promise<[number, string]> => {
  const response = await fetch(`${url}/outage${path}`, { method });
  return [response.status, (await response.text()).trim()];
};

/** A summary of an answer: its status, and legacy's code, the title of a page, or the first bytes of its body. */
const ask = async (path: string): Promise<string> => {
  const response = await fetch(`${legacy.url}${path}`, { redirect: "manual" });
  const body = await response.text().catch(() => "cut");
  const code = /code"?[>:]"?(\d+)/.exec(body)?.[1];
  return `${response.status} ${code ?? /<title>([^<]*)/.exec(body)?.[1] ?? body.slice(0, 26)}`.trim();
};
/** A summary of the answer to each path. */
const askAll = async (paths: readonly string[]): Promise<Record<string, string>> =>
  Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await ask(path)])));

const partly = `
  data/61 data/features/61 data/qualities/61 data/list data/qualities/list data/tag/list data/list/nosuch/1
  data/list?api_key=${key} data/61?api_key=no task/1 task/list run/1 run/trace/1 run/list/run/1 flow/101 flow/list
  evaluation/list/run/1 evaluation/setup/list/run/1 evaluationmeasure/list setup/1 setup/list/flow/101 study/100
  study/list
`
  .trim()
  .split(/\s+/)
  .flatMap((path) => [`/api/v1/json/${path}`, `/api/v1/xml/${path}`]);

/** The only differences, in either format. */
const partial: [form: string, differences: string][] = [
  [
    "table-dataset",
    `data/61: 500, data/features/61: 500, data/qualities/61: 500, task/1: 500, run/1: 500, data/list: 412 372,
     data/list?api_key=${key}: 412 372, task/list: 412 482, run/list/run/1: 412 512, evaluation/list/run/1: 412 542,
     evaluation/setup/list/run/1: 412 542`,
  ],
  [
    "table-run",
    `run/1: 500, run/trace/1: 500, run/list/run/1: 412 512, evaluation/list/run/1: 412 542,
     evaluation/setup/list/run/1: 412 542`,
  ],
  ["table-data_quality", "data/qualities/61: 500, data/qualities/list: 412 641, task/list: 412 482"],
  ["temporary-disk-full", "task/list: 412 482"],
  ["page-504/flow", "flow/101: 504 504 Gateway Timeout, flow/list: 504 504 Gateway Timeout"],
  ["frozen/no/such/path", ""],
];

test.each(partial)("during %s the rest of the sample answers as usual", async (form, differences) => {
  const before = await askAll(partly);
  await control("POST", `/${form}`);
  const during = await askAll(partly);
  await control("DELETE");
  const differing = [...differences.matchAll(/(\S+): ([^,]+)/g)].flatMap(([, path = "", answer]) =>
    ["json", "xml"].map((format) => [`/api/v1/${format}/${path}`, answer]),
  );
  expect(during).toEqual({ ...before, ...Object.fromEntries(differing) });
});

test("the list of datasets has no qualities while their table cannot be read", async () => {
  const rows = async () => (await fetch(`${legacy.url}/api/v1/json/data/list`)).json();
  const { data } = (await rows()) as { data: { dataset: object[] } };
  await control("POST", "/table-data_quality");
  expect(await rows()).toEqual({ data: { dataset: data.dataset.map((row) => ({ ...row, quality: [] })) } });
  await control("DELETE");
});

test("an unknown form changes nothing, and is answered with the allowed ones", async () => {
  await control("POST", "/page-404/flow");
  const [status, text] = await control("POST", "/page-500");
  expect(status).toBe(400);
  for (const form of Object.keys(outageForms)) expect(text).toContain(form);
  expect(await control("GET")).toEqual([200, "page-404/flow"]);
  await control("DELETE");
});

test("no request through a proxy begins an outage", async () => {
  const { url } = await listeningGateway(legacy.url);
  expect(await control("POST", "/page-503", url)).toEqual([403, expect.stringContaining("from this machine")]);
  const forwarded = { method: "POST", headers: { "X-Forwarded-For": "192.0.2.1" } };
  expect((await fetch(`${legacy.url}/outage/page-503`, forwarded)).status).toBe(403);
  expect(await control("GET")).toEqual([200, "none"]);
});

test("--outage begins the sample with one, and --help names all forms", async () => {
  const program = spawnProgram({}, "sample", "--port", "0", "--outage", "database/data");
  onTestFinished(async () => {
    program.child.kill();
    await program.ended;
  });
  const url = (await program.listening()).replace(/:$/, "");
  expect(await control("GET", "", url)).toEqual([200, "database/data"]);
  expect((await fetch(`${url}/api/v1/json/data/61`)).status).toBe(412);
  expect((await fetch(`${url}/api/v1/json/task/1`)).status).toBe(200);

  const help = (await runTool(sampleCommand, ["--help"])).out.join("");
  for (const form of Object.keys(outageForms)) expect(help).toContain(`  ${form} `);
  const taken = await runTool(sampleCommand, ["--port", new URL(url).port]);
  expect([taken.code, taken.errors]).toEqual([
    2,
    [expect.stringMatching(/^--port, --host: 127\.0\.0\.1:\d+ cannot be .*EADDRINUSE.*; allowed is a free port/)],
  ]);
  const { code, errors } = await runTool(sampleCommand, ["--port", "0", "--outage", "page-500"]);
  expect([code, errors]).toEqual([2, [expect.stringMatching('^"page-500" is no outage; allowed are database, ')]]);
});
