import { describe, expect, test } from "vitest";
import { idRequests, readIds, requestFor } from "../../../tools/corpus/madeRequests.ts";
import { endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import { identifier } from "../../../src/catalogue/endpoint/field.ts";
import { get } from "../../../src/catalogue/endpoint/legacyRequest.ts";
import { text } from "../../../src/catalogue/rules/values.ts";
import { endpoints } from "../../../transforms/index.ts";

const shown = { summary: "", legacy: () => get`/x`, output: text, examples: { one: {} } };

describe("the request for an input", () => {
  const { getDataset, listDatasets, findFlow, tagDataset } = endpoints;
  const byPost = endpoint("POST /x/search", { ...shown, input: { id: identifier } });
  test.each([
    ["an id in the path", getDataset, { dataset_id: 61 }, "/datasets/61"],
    [
      "a text that has to be escaped",
      findFlow,
      { name: "a/b ü", external_version: "1" },
      "/flow/exists/a%2Fb%20%C3%BC/1",
    ],
    ["an empty text", findFlow, { name: "a", external_version: "" }, "/flow/exists/a/"],
    ["filters", listDatasets, { tag: "a", limit: 5 }, "/data/list/tag/a/limit/5"],
    ["a list", listDatasets, { data_id: [1, 2] }, "/data/list/data_id/1%2C2"],
    ["an input that only a POST takes", byPost, { id: 1 }, "/x/search"],
    ["a write, which has none", tagDataset, { data_id: 1, tag: "a" }, undefined],
  ])("a request is made for %s", (_, asked, input, path) => {
    expect(requestFor("name", asked, input)?.path).toBe(path);
  });

  test.each([
    [listDatasets, { number_classes: "2..3", data_id: [1, 2] }, "data_id=list number_classes=word"],
    [listDatasets, { data_id: [7], nonsense: 1 }, "data_id=number other"],
    [findFlow, { name: "a(b)", external_version: "" }, "external_version=empty name=text"],
  ])("a request's shape has the kinds of its values, not the values: %#", (asked, input, shape) => {
    expect(requestFor("name", asked, input)?.shape).toBe(shape);
  });
});

describe("ids", () => {
  test("--ids makes a request for each id at every endpoint that takes one id", () => {
    const { getDataset, listDatasets, getSetup, getStudy, findFlow, tagDataset } = endpoints;
    const some = { getDataset, listDatasets, getSetup, getStudy, findFlow, tagDataset };
    const paths = [...idRequests(some, readIds("5,7..8"))].map(({ path }) => path);
    const pathsOf = (id: number) => [`/datasets/${id}`, `/setup/${id}`, `/studies/${id}`];
    expect(paths).toEqual([5, 7, 8].flatMap(pathsOf));
  });

  test.each(["", "1,", "-1", "1..", "3..1", "1e3", "9".repeat(16)])("--ids %s is refused", (written) => {
    expect(() => readIds(written)).toThrow("--ids: allowed are");
  });

  test("--ids makes ten million ids one by one, and refuses more", () => {
    expect(readIds("1..10000000")[Symbol.iterator]().next().value).toBe(1);
    expect(() => readIds("1..9000000,1..9000000")).toThrow("--ids: allowed are");
  });
});
