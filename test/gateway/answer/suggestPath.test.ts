import { expect, test } from "vitest";
import { suggestPath } from "../../../src/gateway/answer/suggestPath.ts";
import { patterns } from "../../../src/gateway/answer/prepared.ts";
import { endpoints } from "../../../transforms/index.ts";

const known = patterns(Object.values(endpoints));

test.each([
  ["/dataset/61", "/datasets/61"],
  ["/Datasets//61", "/datasets/61"],
  ["/datasets/lists", "/datasets/lists"],
  ["/evaluationmeasure/lst", "/evaluationmeasure/list"],
  ["/dta/list/limit/10", "/data/list/limit/10"],
  ["/dta/list/limit", undefined],
  ["/flow/exist/a/b", "/flow/exists/a/b"],
  ["/nothing", undefined],
  [`/dataset/${"6".repeat(300)}`, undefined],
])("%s: %s", (path, suggested) => {
  expect(suggestPath(path, known)).toBe(suggested);
});
