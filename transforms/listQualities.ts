import { endpoint } from "../src/catalogue/endpoint/endpoint.ts";
import { collection } from "../src/catalogue/endpoint/groups.ts";
import { get } from "../src/catalogue/endpoint/legacyRequest.ts";
import { list, object } from "../src/catalogue/rules/compose.ts";
import { text } from "../src/catalogue/rules/values.ts";
import { fixed } from "./lifetimes.ts";

export const listQualities = endpoint("GET /datasets/qualities/list", {
  summary: "The names of all qualities that a dataset can have.",
  input: {},
  legacy: () => get`/data/qualities/list`,
  output: object({ data_qualities_list: object({ quality: list(text) }) }),
  cache: { ...fixed, groups: () => [collection("quality")] },
  modern: { codes: [641] },
  examples: { all: {} },
  exampleAnswer: { data_qualities_list: { quality: ["NumberOfClasses", "NumberOfInstances"] } },
});
