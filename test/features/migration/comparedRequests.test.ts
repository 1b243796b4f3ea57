import { describe, expect, test } from "vitest";
import type { DifferenceResult } from "../../../libraries/compare/difference.ts";
import { comparedSchema, MAX_COMPARED, openComparedRequests } from "../../../features/migration/comparedRequests.ts";

let clock = Date.UTC(2026, 10, 23);
const opened = () => openComparedRequests(() => clock++);

describe("a request that was compared several times", () => {
  test.each<[DifferenceResult[], DifferenceResult]>([
    [["equal"], "equal"],
    [["equal", "unexplained"], "unexplained"],
    [["unexplained", "equal"], "equal"],
    [["unexplained", "expected"], "expected"],
    [["unexplained", "drift"], "unexplained"],
    [["drift"], "drift"],
    [["drift", "equal"], "equal"],
  ])("a request counts once, by its latest result that is no drift: %j is %s", (results, counted) => {
    // The result is the same if a single process compared the request every time, or another process each time.
    const only = opened();
    const stored = results.reduce((text, result) => {
      only.add("/datasets/61", result);
      const another = opened();
      another.merge(text);
      another.add("/datasets/61", result);
      return another.toText();
    }, "");
    const last = opened();
    last.merge(stored);
    for (const requests of [only, last]) expect(requests.counts()).toMatchObject({ compared: 1, [counted]: 1 });
  });

  test("the latest result counts, in whichever order gateways read each other", () => {
    const [earlier, later] = [opened(), opened()];
    earlier.add("/datasets/61", "unexplained");
    later.merge(earlier.toText());
    clock -= 3_600_000;
    later.add("/datasets/61", "equal");
    clock += 3_600_000;
    expect(earlier.counts()).toMatchObject({ unexplained: 1 });
    const [before, after] = [earlier.toText(), later.toText()];
    earlier.merge(after);
    later.merge(before);
    const drifted = opened();
    drifted.add("/datasets/61", "drift");
    for (const requests of [earlier, later]) {
      expect(requests.counts()).toMatchObject({ compared: 1, equal: 1 });
      requests.merge(drifted.toText());
      expect(requests.counts()).toMatchObject({ compared: 1, equal: 1 });
    }
  });
});

test("the latest requests count, and others are forgotten", () => {
  const requests = opened();
  requests.add("first", "unexplained");
  const old = requests.toText();
  for (let i = 0; i < MAX_COMPARED; i++) requests.add(`${i}`, "equal");
  expect(requests.counts()).toMatchObject({ compared: MAX_COMPARED, equal: MAX_COMPARED });
  requests.merge(old);
  expect(requests.counts()).toMatchObject({ compared: MAX_COMPARED, equal: MAX_COMPARED });
  expect(comparedSchema.parse(requests.toText())).toBe(requests.toText());
});

test("requests have differed since the first of those that still do", () => {
  const requests = opened();
  const begun = clock;
  for (const request of ["one", "two", "one"]) requests.add(request, "unexplained");
  expect(requests.differsSince()).toBe(begun);
  requests.add("one", "equal");
  expect(requests.differsSince()).toBe(begun + 1);
  requests.add("two", "equal");
  expect(requests.differsSince()).toBe(Infinity);
  const again = clock;
  requests.add("one", "unexplained");
  expect(requests.differsSince()).toBe(again);
});

test("the ledger allows what this process has seen, and says so to the others", () => {
  const [first, other] = [opened(), opened()];
  first.add("/datasets/61", "unexplained");
  other.add("/datasets/2", "unexplained");
  first.merge(other.toText());
  other.merge(first.toText());
  first.allow();
  other.merge(first.toText());
  for (const requests of [first, other])
    expect(requests.counts()).toMatchObject({ compared: 2, expected: 1, unexplained: 1 });
});

test.each(["abcdefgh0mhx0qzk", "abcdefgh9mhx0qzk0", "ab/defgh0mhx0qzk0"])(
  "a stored text that is malformed is no evidence: %j",
  (forged) => {
    expect(comparedSchema.safeParse(forged).success).toBe(false);
  },
);
