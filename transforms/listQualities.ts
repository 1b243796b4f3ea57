import { collection, endpoint, get, list, object, text } from "../src/catalogue/index.ts";
import { fixed } from "./lifetimes.ts";

export const listQualities = endpoint("GET /datasets/qualities/list", {
  summary: "The names of all qualities that a dataset can have.",
  input: {},
  legacy: () => get`/data/qualities/list`,
  output: object({ data_qualities_list: object({ quality: list(text) }) }),
  legacyForm: { elements: "data_qualities_list{quality+}" },
  cache: { ...fixed, groups: () => [collection("quality")] },
  modern: { codes: [641] },
  examples: { all: {} },
  exampleAnswer: { data_qualities_list: { quality: ["NumberOfClasses", "NumberOfInstances"] } },
});
