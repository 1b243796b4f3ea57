import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
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

// The message decides: the first of these patterns that it contains.
const byMessage: [status: number, pattern: RegExp][] = [
  [401, /authentication failed|please provide api key/],
  [403, /not owned|admin|no right|permission|no access|not visible/],
  [404, /does not exist|unknown|no .*found|not found|could not find/],
  [409, /already/],
  [422, /illegal|please provide|validating|offset without a limit|not safe|too high|too many/],
  [412, /in use|not processed|transition/],
  [502, /database|failed|internal|exception/],
];

/** The codes that mean something else than their message says. */
const others = new Map([
  ...[110, 180, 235, 280, 360].map((code) => [code, 404] as const),
  ...[113, 272, 274, 362, 694].map((code) => [code, 412] as const),
  [474, 409],
  [603, 410],
  [1042, 410],
  [600, 502],
  [107, 503],
]);

test("legacy's errors have the statuses that their messages suggest", () => {
  const wanted = known.flatMap(([code, message]) => {
    const status =
      others.get(Number(code)) ?? byMessage.find(([, pattern]) => pattern.test(message.toLowerCase()))?.[0];
    return status === undefined ? [] : [`${code} ${message}: ${status}`];
  });
  expect(wanted.length).toBeGreaterThan(200);
  const given = new Set(known.map(([code, message]) => `${code} ${message}: ${statusOf(Number(code))}`));
  expect(wanted.filter((code) => !given.has(code))).toEqual([]);
});
