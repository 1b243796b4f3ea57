import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { OutcomeKind } from "../../src/catalogue/endpoint/outcome.ts";
import { answerOf } from "../../src/catalogue/endpoint/answer.ts";
import { outcomeOf } from "../../src/catalogue/legacy/reading.ts";
import { legacyErrors } from "../../transforms/legacyErrors.ts";

/** Every code that the legacy interface is known to have, with its message. */
const known = readFileSync(new URL("../../fixtures/legacyErrors.tsv", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split("\t") as [string, string]);

const statusOf = (code: number): number => {
  const message = legacyErrors.get(code)?.message ?? "";
  return answerOf(outcomeOf({ is: "error", code, message }, legacyErrors)).status;
};

test("legacyErrors has one row for each known code, with its message", () => {
  expect([...legacyErrors].map(([code, row]) => [String(code), row.message])).toEqual(
    known.toSorted((a, b) => Number(a[0]) - Number(b[0])),
  );
});

// The codes whose status is decided one by one.
const named: [status: number, codes: number[]][] = [
  [401, [102, 103, 137, 138, 310, 311, 350, 351, 400, 401, 460, 461]],
  [403, [112, 275, 602, 104, 106, 323, 353, 393, 453, 476, 693, 696]],
  [404, [111, 151, 181, 236, 271, 281, 372, 472, 475, 482, 500, 512, 520, 542, 571, 601, 110, 180, 235, 280, 360]],
  [409, [473, 474, 164, 171, 139]],
  [410, [603, 1042]],
  [412, [113, 272, 273, 274, 362, 363, 364, 694]],
  [422, [370, 371, 373, 477, 480, 481, 501, 330, 471]],
  [502, [100, 600, 105]],
  [503, [107]],
];

test.each(named.flatMap(([status, codes]) => codes.map((code) => [code, status])))(
  "legacy's error %i is answered with %i",
  (code, status) => {
    expect(statusOf(code)).toBe(status);
  },
);

// For other codes the message decides: the first of these patterns that it contains.
const byMessage: [status: number, pattern: RegExp][] = [
  [401, /authentication failed|please provide api key/],
  [404, /does not exist|unknown|no .*found|not found|could not find/],
  [403, /not owned|admin rights|no right/],
  [409, /already/],
  [422, /illegal|please provide|validating|offset without a limit|not safe|too high|too many/],
  [412, /in use|not processed|transition/],
  [502, /database|failed|internal|exception/],
];

const isNamed = new Set(named.flatMap(([, codes]) => codes));
const unnamed = known.flatMap(([code, message]) => {
  const rule = byMessage.find(([, pattern]) => pattern.test(message.toLowerCase()));
  return rule && !isNamed.has(Number(code)) ? [[Number(code), message, rule[0]] as const] : [];
});

test.each(unnamed)("legacy's error %i (%s) has the status %i by its message", (code, _, status) => {
  expect(statusOf(code)).toBe(status);
});

test.each([
  [110, "111", "Unknown dataset"],
  [280, "281", "Unknown setup"],
  [102, "103", "Authentication failed"],
  [602, "112", "No access granted"],
])("legacy's error %i is answered with the code %s", (code, shown, message) => {
  expect(outcomeOf({ is: "error", code, message: "whatever" }, legacyErrors)).toMatchObject({ code: shown, message });
});

test("an error keeps legacy's additional information", () => {
  expect(
    outcomeOf(
      { is: "error", code: 473, message: "Entity already tagged by this tag.", additional: "id=1; tag=a" },
      legacyErrors,
    ),
  ).toEqual({
    kind: "conflict" satisfies OutcomeKind,
    code: "473",
    message: "Entity already tagged by this tag.",
    additional: "id=1; tag=a",
  });
});
