import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openBreaker } from "../../../src/gateway/upstream/breaker.ts";
import { type FailureKind, UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const open = () => {
  const said: string[] = [];
  const breaker = openBreaker((change) => void said.push(change), 3);
  const call = (kind?: FailureKind) =>
    breaker
      .execute(async () => {
        if (kind !== undefined) throw new UpstreamFailure(kind, { method: "GET", path: "/" });
        return "answered";
      })
      .then((answer) => answer ?? "not asked")
      .catch(() => "failed");
  const calls = async (...kinds: (FailureKind | undefined)[]) => {
    const ends: string[] = [];
    for (const kind of kinds) ends.push(await call(kind));
    return ends;
  };
  return { breaker, said, call, calls };
};

test.each<[what: string, kinds: (FailureKind | undefined)[], circuit: string]>([
  ["three failures in a row", ["broken", "timeout", "unreachable"], "open"],
  ["two", ["broken", "broken"], "closed"],
  ["failures that are not in a row", ["broken", "broken", undefined, "broken", "broken"], "closed"],
  ["what is not its fault", ["overloaded", "crowded", "aborted", "tooLarge", "overloaded"], "closed"],
])("after %s it is: %s %s", async (_, kinds, circuit) => {
  const { breaker, calls } = open();
  await calls(...kinds);
  expect(breaker.circuit()).toBe(circuit);
});

test("after five seconds one call finds out whether the backend is back", async () => {
  const { said, call, calls } = open();
  await calls("broken", "broken", "broken");
  expect(await call()).toBe("not asked");
  vi.advanceTimersByTime(5000);
  expect(await calls("broken", undefined)).toEqual(["failed", "not asked"]);
  vi.advanceTimersByTime(5000);
  expect(await calls(undefined, "broken")).toEqual(["answered", "failed"]);
  expect(said).toEqual(["opened", "closed"]);
});
