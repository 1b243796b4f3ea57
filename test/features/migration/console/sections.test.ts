import { expect, test } from "vitest";
import { differenceItem } from "../../../../src/features/migration/console/differencesSection.ts";
import type { DifferenceView } from "../../../../src/features/migration/views.ts";

test("an answer that would not be served has no entry for the ledger", () => {
  const difference: DifferenceView = {
    endpoint: "findFlow",
    path: "/detail",
    kind: "unexplained",
    form: "value",
    cause: "value at /detail",
    count: 1,
    answers: 1,
    samples: [],
  };
  expect(String(differenceItem(difference))).toContain("entry for the ledger");
  expect(String(differenceItem({ ...difference, path: "served" }))).not.toContain("entry for the ledger");
});
