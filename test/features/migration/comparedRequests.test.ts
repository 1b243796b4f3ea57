import { describe, expect, test } from "vitest";
import type { DifferenceResult } from "../../../libraries/compare/difference.ts";
import { comparedSchema, MAX_COMPARED, openComparedRequests } from "../../../features/migration/comparedRequests.ts";

let clock = Date.UTC(2026, 10, 23);
const opened = () => openComparedRequests(() => clock++);

describe("a request counts once, by its latest result that is no drift", () => {
  test.each<[DifferenceResult[], DifferenceResult]>([
    [["equal"], "equal"],
    [["equal", "unexplained"], "unexplained"],
    [["unexplained", "equal"], "equal"],
    [["unexplained", "explained"], "explained"],
    [["unexplained", "expected"], "expected"],
    [["unexplained", "drift"], "unexplained"],
    [["unexplained", "equal", "unexplained"], "unexplained"],
    [["drift"], "drift"],
    [["drift", "equal"], "equal"],
    [["drift", "drift"], "drift"],
  ])("%j is %s", (results, counted) => {
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

  test("in whichever order two gateways read each other", () => {
    const [earlier, later] = [opened(), opened()];
    earlier.add("/datasets/61", "unexplained");
    later.add("/datasets/61", "equal");
    const [before, after] = [earlier.toText(), later.toText()];
    earlier.merge(after);
    later.merge(before);
    for (const requests of [earlier, later]) expect(requests.counts()).toMatchObject({ compared: 1, equal: 1 });
  });

  test("also if the clock was set back", () => {
    const requests = opened();
    requests.add("/datasets/61", "unexplained");
    const before = requests.toText();
    clock -= 3_600_000;
    requests.add("/datasets/61", "equal");
    requests.merge(before);
    expect(requests.counts()).toMatchObject({ compared: 1, equal: 1 });
    clock += 3_600_000;
  });
});

test("the latest requests count, and others are forgotten", () => {
  const requests = opened();
  requests.add("first", "unexplained");
  const old = requests.toText();
  for (let i = 0; i < MAX_COMPARED; i++) requests.add(`${i}`, "equal");
  requests.merge(old);
  expect(requests.counts()).toMatchObject({ compared: MAX_COMPARED, equal: MAX_COMPARED });
  expect(comparedSchema.parse(requests.toText())).toBe(requests.toText());
});

test("a gate counts the requests that were compared since the move", () => {
  const requests = opened();
  for (const request of ["one", "two"]) requests.add(request, "equal");
  const movedAt = clock;
  for (const request of ["two", "three"]) requests.add(request, "equal");
  expect(requests.counts(movedAt)).toMatchObject({ compared: 2 });
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

test.each(["x", "abcdefgh0mhx0qzk", "abcdefgh9mhx0qzk0", "abcdefgh?mhx0qzk0", "ab/defgh0mhx0qzk0", 1, null, {}])(
  "%j is no evidence",
  (forged) => {
    expect(comparedSchema.safeParse(forged).success).toBe(false);
  },
);
