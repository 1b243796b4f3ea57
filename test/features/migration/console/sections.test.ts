import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differenceItem } from "../../../../src/features/migration/console/differencesSection.ts";
import { parityShare } from "../../../../src/features/migration/console/stagesSection.ts";
import { type DiffPiece, diffWords } from "../../../../src/features/migration/console/wordDiff.ts";
import type { DifferenceView } from "../../../../src/features/migration/views.ts";
import { anyText } from "../../../support/anyText.ts";

const written = (parts: readonly DiffPiece[]): string =>
  parts.map(({ text, changed }) => (changed ? `[${text}]` : text)).join("");

describe("what changed", () => {
  test.each([
    ['"Sparse_ARFF"', '"sparse_arff"', '"[Sparse]_[ARFF]"', '"[sparse]_[arff]"'],
    ["61", "61", "61", "61"],
    ["", "new", "", "[new]"],
    ["a b c", "a c", "a [b ]c", "a c"],
    ["[1, 2]", "[2, 1]", "[[1], [2]]", "[[2], [1]]"],
  ])("%s against %s", (left, right, markedLeft, markedRight) => {
    const parts = diffWords(left, right);
    expect([written(parts.left), written(parts.right)]).toEqual([markedLeft, markedRight]);
  });

  test("no text is lost, and unmarked text is the same in both", () => {
    const text = fc.oneof(
      anyText(),
      fc.array(fc.constantFrom("a", " ", ",", "\n")).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, text, (one, other) => {
        const { left, right } = diffWords(one, other);
        const all = (parts: readonly DiffPiece[]) => parts.map((part) => part.text).join("");
        expect([all(left), all(right)]).toEqual([one, other]);
        expect(all(left.filter(({ changed }) => !changed))).toBe(all(right.filter(({ changed }) => !changed)));
      }),
    );
  });

  test("of two long texts the whole middle is marked", () => {
    const long = (word: string) => `start ${`${word} `.repeat(1000)}end`;
    const { left } = diffWords(long("a"), long("b"));
    expect(left.map(({ changed }) => changed)).toEqual([false, true, false]);
  });
});

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

test("parity counts correct answers, and leaves drift out", () => {
  const none = { compared: 0, equal: 0, explained: 0, expected: 0, drift: 0, unexplained: 0, comparisons: 0, lower: 0 };
  expect(parityShare(none)).toBeUndefined();
  expect(parityShare({ ...none, compared: 2, drift: 2 })).toBeUndefined();
  expect(parityShare({ ...none, compared: 10, equal: 2, explained: 1, expected: 1, drift: 2, unexplained: 4 })).toBe(
    0.5,
  );
});
