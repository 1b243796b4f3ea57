import { describe, expect, test } from "vitest";
import { exampleRequests, idRequests, readIds, requestFor } from "../../../src/tools/corpus/madeRequests.ts";
import { endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import { identifier } from "../../../src/catalogue/endpoint/field.ts";
import { get } from "../../../src/catalogue/endpoint/legacyRequest.ts";
import { text } from "../../../src/catalogue/rules/values.ts";
import { endpoints } from "../../../transforms/index.ts";

const shown = { summary: "", legacy: () => get`/x`, output: text, examples: { one: {} } };

describe("what asks for an input", () => {
  const { getDataset, listDatasets, findFlow, tagDataset } = endpoints;
  const byPost = endpoint("POST /x/search", { ...shown, input: { id: identifier } });
  test.each([
    ["an id in the path", getDataset, { dataset_id: 61 }, "/datasets/61"],
    ["a text is escaped", findFlow, { name: "a/b ü", external_version: "1" }, "/flow/exists/a%2Fb%20%C3%BC/1"],
    ["an empty text", findFlow, { name: "a", external_version: "" }, "/flow/exists/a/"],
    ["no filter", listDatasets, {}, "/datasets/list"],
    ["filters", listDatasets, { tag: "a", limit: 5 }, "/data/list/tag/a/limit/5"],
    ["a list", listDatasets, { data_id: [1, 2] }, "/data/list/data_id/1%2C2"],
    ["only a POST takes it", byPost, { id: 1 }, "/x/search"],
    ["a needed field is missing", findFlow, { name: "a" }, undefined],
    ["a write", tagDataset, { data_id: 1, tag: "a" }, undefined],
  ])("%s", (_, asked, input, path) => {
    expect(requestFor("name", asked, input)?.path).toBe(path);
  });

  test.each([
    [listDatasets, { tag: "a", limit: 5 }, "limit=number tag=word"],
    [listDatasets, { number_classes: "2..3", data_id: [1, 2] }, "data_id=list number_classes=word"],
    [listDatasets, { data_id: [7], nonsense: 1 }, "data_id=number other"],
    [findFlow, { name: "a(b)", external_version: "" }, "external_version=empty name=text"],
    [listDatasets, {}, "nothing"],
  ])("its shape has the kinds of its values: %#", (asked, input, shape) => {
    expect(requestFor("name", asked, input)?.shape).toBe(shape);
  });
});

test("every reading endpoint has its examples asked, no writing one", () => {
  const requests = exampleRequests(endpoints);
  const reading = Object.entries(endpoints).filter(([, asked]) => !asked.writes);
  expect(new Set(requests.map((ask) => ask.endpoint))).toEqual(new Set(reading.map(([name]) => name)));
  expect(requests).toHaveLength(reading.flatMap(([, { examples }]) => Object.keys(examples)).length);
});

describe("ids", () => {
  test("each is asked of every endpoint that answers for one id", () => {
    const { getDataset, listDatasets, getSetup, getStudy, findFlow, tagDataset } = endpoints;
    const some = { getDataset, listDatasets, getSetup, getStudy, findFlow, tagDataset };
    expect([...idRequests(some, [5, 7])].map(({ path }) => path)).toEqual([
      "/datasets/5",
      "/setup/5",
      "/studies/5",
      "/datasets/7",
      "/setup/7",
      "/studies/7",
    ]);
  });

  test.each([
    ["1..3,200,300..302", [1, 2, 3, 200, 300, 301, 302]],
    [" 7 , 5..5 ", [7, 5]],
    ["0", [0]],
    ["007", [7]],
  ])("%s", (written, ids) => {
    const read = readIds(written);
    expect([[...read], [...read]]).toEqual([ids, ids]);
  });

  test.each(["", ",", "1,", "a", "-1", "1..", "..1", "1...3", "3..1", "1.5", "1e3", "1..2..3", "9".repeat(16)])(
    "%s is refused",
    (written) => {
      expect(() => readIds(written)).toThrow("--ids: allowed are");
    },
  );

  test("ten million are made as they are taken, more are refused", () => {
    expect(readIds("1..10000000")[Symbol.iterator]().next().value).toBe(1);
    expect(() => readIds("1..9000000,1..9000000")).toThrow("--ids: allowed are");
  });
});
