import { hash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SampleLegacy, startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";

const administrator = "AD000000000000000000000000000000";
const normal = "00000000000000000000000000000000";
const owner = "DA1A0000000000000000000000000000";
const readOnly = "33333333333333333333333333333333";
const wrong = "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";

let plain: SampleLegacy;
beforeAll(async () => {
  plain = await startSampleLegacy();
});
afterAll(() => plain.close());

const ask = async (path: string, init: RequestInit & { key?: string } = {}, server = plain) => {
  const query = init.key === undefined ? "" : `?api_key=${init.key}`;
  const response = await fetch(`${server.url}${path}${query}`, init);
  return { status: response.status, headers: response.headers, body: await response.text() };
};

const post = (path: string, fields: Record<string, string>, server = plain) =>
  ask(path, { method: "POST", body: new URLSearchParams(fields) }, server);

const json = (body: string): unknown => JSON.parse(body);
const error = (code: string, additional_information?: string) => ({
  error: expect.objectContaining(additional_information === undefined ? { code } : { code, additional_information }),
});
const xmlError = (code: string) => expect.stringMatching(`^<oml:error [^>]+>\n\t<oml:code>${code}</oml:code>`);

describe("the administrators", () => {
  const path = "evaluation/request/1/normal/1/none/0";
  const xml = (code: number, message: string, more = "") =>
    `<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>${code}</oml:code>\n\t<oml:message>${message}</oml:message>\n\t${more}</oml:error>\n`;
  const about = "Legal filter operators: ttid,task,tag,uploader,setup. Found illegal filter: none";
  const yes = `{"error":{"code":"1011","message":"Illegal filter","additional_information":"${about}"}}`;
  const no = '{"error":{"code":"106","message":"The intended action requires admin rights."}}';

  test.each([
    [
      administrator,
      yes,
      xml(1011, "Illegal filter", `\t<oml:additional_information>${about}</oml:additional_information>\n\t`),
    ],
    [undefined, no, xml(106, "The intended action requires admin rights. ")],
    [wrong, xml(103, "Authentication failed"), xml(103, "Authentication failed")],
  ])("the sample's evaluation/request answers as recorded to the key %s", async (key, inJson, inXml) => {
    const init = key === undefined ? {} : { key };
    expect(await ask(`/api/v1/json/${path}`, init)).toMatchObject({ status: 412, body: inJson });
    expect(await ask(`/api/v1/xml/${path}`, init)).toMatchObject({ status: 412, body: inXml });
  });
});

describe("a data file that a record names", () => {
  test("it is ARFF with the rows and the checksum of its record, by both paths", async () => {
    const { body } = await ask("/api/v1/json/data/61");
    const { url, md5_checksum } = (json(body) as { data_set_description: Record<string, string> }).data_set_description;
    const file = await ask(new URL(url ?? "").pathname);
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "text/plain"]);
    expect(file.body).toMatch(/^@relation iris\n@attribute sepallength numeric\n/);
    expect(file.body.split("@data\n")[1]?.trim().split("\n")).toHaveLength(150);
    expect(hash("md5", file.body)).toBe(md5_checksum);
    expect((await ask("/data/download/61/any.arff")).body).toBe(file.body);
  });

  test("a private data file is for its owner", async () => {
    const path = "/data/v1/download/16/kept_to_myself.arff";
    expect((await ask(path)).status).toBe(403);
    expect(await ask(path, { key: owner })).toMatchObject({ status: 200, body: expect.stringMatching(/^@relation/) });
  });
});

/** Legacy's codes for ids, filters and names that it refuses, all with 412. */
const refused = `
  data/0=110 data/999999=111 data/1.5=111 data/16=112 data/14=113 data/abc=100 data/features/18=273
  data/qualities/16=361 data/list/nosuch/1=370 data/list/data_id/1,=371 data/list/offset/5=373
  setup/0=280 setup/list=670 setup/list/flow/99=674 setup/list/limit/1001=676
  study/list/uploader/999=599 study/99/nosuch=600 study/105=602 study/15=603 flow/list/tag/nosuch=500 task/999=151
  run/list/offset/0=510 run/list/limit/1001=516 run/trace/3=572
  evaluation/list/per_fold/true=540 evaluation/list/run/1/per_fold/yes=547 evaluation/list/run/1/sort_order/up=549
`
  .trim()
  .split(/\s+/)
  .map((row) => row.split("="));

describe("an id, a filter or a name", () => {
  test.each(refused)("the sample refuses %s with %s", async (path, code) => {
    const { status, body, headers } = await ask(`/api/v1/json/${path}`);
    expect([status, json(body)]).toEqual([412, error(code)]);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  test.each([
    ["/setup/2e0", { setup_parameters: expect.objectContaining({ setup_id: "2" }) }],
    ["/study/list/status/deactivated", { study_list: { study: expect.objectContaining({ id: "106" }) } }],
    ["/flow/exists/SAMPLE.zerorule/sample_1.0", { flow_exists: { exists: "true", id: "101" } }],
  ])("the sample reads %s as legacy does", async (path, expected) => {
    const { status, body } = await ask(`/api/v1/json${path}`);
    expect([status, json(body)]).toEqual([200, expected]);
  });
});

describe("requests that kill the script", () => {
  test.each([
    ["an id that is a number only in SQL", "/api/v1/json/data/61.0"],
    ["a bare ampersand in a study", "/api/v1/json/study/ampersand"],
    ["letters that become HTML entities", "/api/v1/json/flow/110"],
    ["a quote in the key", '/api/v1/json/data/61?api_key="'],
  ])("the sample's script dies of %s", async (_, path) => {
    const { status, body, headers } = await ask(path);
    expect([status, body, headers.get("content-type")]).toEqual([500, "", "text/html; charset=UTF-8"]);
  });
});

describe("before any function", () => {
  test.each([
    ["the front page", "/", 200, "text/html; charset=UTF-8", true],
    ["an encoded slash", "/api/v1/json/flow/exists/a%2Fb/1", 404, "text/html; charset=iso-8859-1", false],
  ])("the sample answers with a page: %s", async (_, path, status, type, hasSession) => {
    const answer = await ask(path);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([status, type]);
    expect(answer.headers.has("set-cookie")).toBe(hasSession);
    expect(answer.body).toMatch(/^<!DOCTYPE html>/);
  });
});

describe("the caller", () => {
  test.each([
    ["GET", "/data/61", wrong, xmlError("103")],
    ["GET", "/nosuch", undefined, xmlError("100")],
    ["OPTIONS", "/data/61", undefined, xmlError("102")],
    ["POST", "/nosuch", readOnly, xmlError("104")],
    ["PUT", "/data/61", normal, '{"error":{"code":"100","message":"Function not valid"}}'],
  ])("the sample authenticates %s %s with the key %s as legacy does", async (method, path, key, expected) => {
    const { status, body } = await ask(`/api/v1/json${path}`, { method, key });
    expect({ status, body }).toEqual({ status: 412, body: expected });
  });

  test("the sample ignores a key's case, and shows private rows to those with rights", async () => {
    const statuses = async (path: string) => {
      const answers = await Promise.all(
        [undefined, normal, owner.toLowerCase(), administrator].map((key) => ask(path, { key })),
      );
      return answers.map(({ status }) => status);
    };
    expect(await statuses("/api/v1/json/data/16")).toEqual([412, 412, 200, 200]);
    expect(await statuses("/api/v1/json/data/list/data_id/16")).toEqual([412, 412, 200, 412]);
    expect(await statuses("/api/v1/json/study/hidden-suite")).toEqual([412, 412, 200, 412]);
  });
});

describe("documents", () => {
  test("the sample's dataset writes no entry, one, several and blanks as legacy does", async () => {
    const { body } = await ask("/api/v1/json/data/0030");
    expect(json(body)).toEqual({
      data_set_description: expect.objectContaining({
        id: "30",
        creator: "One Person",
        ignore_attribute: "only",
        tag: "single",
        url: "https://legacy.example/data/v1/download/30/everything, (set).arff",
        parquet_url: "https://files.example/datasets/0000/0030/dataset_0030.pq",
      }),
    });
    const bare: object = JSON.parse((await ask("/api/v1/json/data/29")).body).data_set_description;
    expect(bare).toMatchObject({ description: [], creator: [], contributor: [], md5_checksum: [] });
    expect(bare).not.toHaveProperty("licence");
  });

  test("the sample's list of datasets has a template, where numbers are numbers", async () => {
    const { body } = await ask("/api/v1/json/data/list/data_id/14,9/number_instances/0..9000");
    const start =
      '{"data":{"dataset":[\n    {"did":9,\n   "name":"bus_rides",\n   "version":1,\n   "status":"active",\n';
    expect(body.slice(0, start.length)).toBe(start);
    expect(body).toContain(
      '"file_id": 9,\n      "quality":[\n        {"name":"NumberOfClasses",\n     "value":"0.0"\n    }\n',
    );
    expect(json(body)).toMatchObject({ data: { dataset: [{ did: 9, format: "csv", md5_checksum: "", file_id: 9 }] } });
  });

  test.each([
    ["limit/1,2", [2, 3]],
    ["data_name/TRAM_delays/data_version/2", [28]],
    ["tag/Flowers", [61, 187]],
    ["status/all/uploader/2,1/limit/2/offset/1", [8, 13]],
    ["number_classes/26..26", [6]],
  ])("the sample filters data/list/%s", async (filters, ids) => {
    const { body } = await ask(`/api/v1/json/data/list/${filters}`);
    expect([...body.matchAll(/"did":(\d+)/g)].map(([, id]) => Number(id))).toEqual(ids);
  });
});

describe("tags", () => {
  type Step = [fields: Record<string, string>, status: number, body: unknown];

  const stories: [title: string, path: string, steps: Step[]][] = [
    [
      "added in legacy's order of checks",
      "data/tag",
      [
        [{ data_id: "4" }, 412, error("471")],
        [{ data_id: "999", tag: "a b" }, 412, error("472")],
        [{ data_id: "4", tag: "a b" }, 500, error("477", "id=4; tag=a b")],
        [{ data_id: "4abc", tag: "x" }, 500, ""],
        [{ data_id: "4", tag: "new%74ag" }, 200, { data_tag: { id: "4", tag: "newtag" } }],
        [{ data_id: "4", tag: "newtag" }, 500, error("473", "id=4; tag=newtag")],
        [{ data_id: "4", tag: "NewTag" }, 412, error("474")],
        [{ data_id: " 04", tag: "Another" }, 200, { data_tag: { id: "04", tag: ["Another", "newtag"] } }],
        [{ data_id: "16", tag: "of_somebody_else" }, 200, { data_tag: { id: "16", tag: "of_somebody_else" } }],
      ],
    ],
    [
      "removed by their owner or an administrator",
      "setup/untag",
      [
        [{ setup_id: "7", tag: "nosuch" }, 412, error("475")],
        [{ setup_id: "7", tag: "first_of_two" }, 412, error("476")],
        [{ setup_id: "7", tag: "SECOND_of_two" }, 200, { setup_untag: { id: "7", tag: "first_of_two" } }],
        [{ setup_id: "7", tag: 'a"b' }, 500, ""],
        [{ setup_id: "7", tag: "first_of_two", api_key: administrator }, 200, { setup_untag: { id: "7" } }],
        [{ at: "setup/tag", setup_id: "7", tag: "back" }, 200, { setup_tag: { id: "7", tag: "back" } }],
      ],
    ],
  ];

  test.each(stories)("the sample's tags are %s", async (_, path, steps) => {
    const server = await startSampleLegacy();
    for (const [{ at = path, ...fields }, status, expected] of steps) {
      const { status: actual, body } = await post(`/api/v1/json/${at}`, { api_key: normal, ...fields }, server);
      expect({ fields, status: actual, body: body && json(body) }).toEqual({ fields, status, body: expected });
    }
    await server.close();
  });
});
