import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FailureKind, UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import { watchModern } from "../../../libraries/modern/watchModern.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const request = { method: "GET", path: "/" };

const open = () => {
  const said: string[] = [];
  const states: [boolean, string?][] = [];
  const modern = watchModern({
    report: (...state) => void states.push(state),
    onCircuit: (change) => void said.push(change),
  });
  const call = (kind?: FailureKind, isNeeded = false) =>
    modern
      .execute(async () => {
        if (kind !== undefined) throw new UpstreamFailure(kind, request);
        return "answered";
      }, isNeeded)
      .then((answer) => answer ?? "not asked")
      .catch(() => "failed");
  const calls = async (...kinds: (FailureKind | undefined)[]) => {
    const ends: string[] = [];
    for (const kind of kinds) ends.push(await call(kind));
    return ends;
  };
  return { modern, said, states, call, calls };
};

test.each<[what: string, kinds: (FailureKind | undefined)[], circuit: string]>([
  ["three failures in a row", ["broken", "timeout", "unreachable"], "open"],
  ["two", ["broken", "broken"], "closed"],
  ["failures that are not in a row", ["broken", "broken", undefined, "broken", "broken"], "closed"],
  ["what is not its fault", ["overloaded", "crowded", "aborted", "tooLarge", "overloaded"], "closed"],
])("after %s the circuit is: %s %s", async (_, kinds, circuit) => {
  const { modern, states, calls } = open();
  await calls(...kinds);
  expect([modern.circuit(), states]).toEqual([circuit, circuit === "open" ? [[false, "its last calls failed"]] : []]);
});

test("after five seconds one call looks whether modern is back; writes are sent", async () => {
  const { said, call, calls } = open();
  await calls("broken", "broken", "broken");
  expect([await call(), await call(undefined, true)]).toEqual(["not asked", "answered"]);
  vi.advanceTimersByTime(5000);
  expect(await calls("broken", undefined)).toEqual(["failed", "not asked"]);
  vi.advanceTimersByTime(5000);
  expect(await calls(undefined, "broken")).toEqual(["answered", "failed"]);
  expect(said).toEqual(["opened", "closed"]);
});

test("modern is down when it cannot be reached, or failed three times in a row", () => {
  const { modern, states } = open();
  const fail = (kind: FailureKind) => modern.failed(request, new UpstreamFailure(kind, request));
  for (const kind of ["timeout", "broken", "aborted", "overloaded", "crowded", "tooLarge"] as const) fail(kind);
  modern.answered();
  fail("timeout");
  fail("timeout");
  expect(states.every(([isUp]) => isUp)).toBe(true);
  fail("timeout");
  expect([states.at(-1), modern.isFailing()]).toEqual([[false, "it takes too long to answer"], true]);
  modern.answered();
  fail("unreachable");
  expect(states.at(-1)).toEqual([false, "it cannot be reached"]);
});
