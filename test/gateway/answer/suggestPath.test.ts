import fc from "fast-check";
import { expect, test } from "vitest";
import { anyPath } from "../../support/anyText.ts";
import { suggestPath } from "../../../src/gateway/answer/suggestPath.ts";
import { patterns } from "../../../src/gateway/answer/prepared.ts";
import { endpoints } from "../../../transforms/index.ts";

const known = patterns(Object.values(endpoints));

test.each([
  ["/dataset/61", "/datasets/61"],
  ["/Datasets/61", "/datasets/61"],
  ["/datasets//61", "/datasets/61"],
  ["/datasets/lists", "/datasets/lists"],
  ["/evaluationmeasure/lst", "/evaluationmeasure/list"],
  ["/data/list/limit/10/offset/5", "/data/list/limit/10/offset/5"],
  ["/dta/list/limit/10", "/data/list/limit/10"],
  ["/dta/list/limit", undefined],
  ["/flow/exist/a/b", "/flow/exists/a/b"],
  ["/nothing", undefined],
  ["/", undefined],
  [`/dataset/${"6".repeat(300)}`, undefined],
])("%s: %s", (path, suggested) => {
  expect(suggestPath(path, known)).toBe(suggested);
});

test("whatever the path is, a suggestion keeps what its route names", () => {
  fc.assert(
    fc.property(anyPath(), (rest) => {
      expect(suggestPath(`/dataset${rest.split("/")[1] ? `/${rest.split("/")[1]}` : "/1"}`, known)).toMatch(
        /^\/datasets\//,
      );
    }),
  );
});
