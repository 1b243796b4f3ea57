import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FailureKind, UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import { ModernFailure, watchModern } from "../../../libraries/modern/watchModern.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const request = { method: "GET", path: "/" };

const open = () => {
  const said: string[] = [];
  const states: [boolean, string?, string?][] = [];
  const modern = watchModern({
    url: "http://modern.example/v1",
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
  modern.answered();
  await calls(...kinds);
  const state = circuit === "open" ? [false, "it cannot be reached", undefined] : [true, undefined, undefined];
  expect([modern.circuit(), states.at(-1)]).toEqual([circuit, state]);
});

test("after five seconds one call tests if modern is back; writes are sent", async () => {
  const { said, call, calls } = open();
  await calls("broken", "broken", "broken");
  expect([await call(), await call(undefined, true)]).toEqual(["not asked", "answered"]);
  vi.advanceTimersByTime(5000);
  expect(await calls("broken", undefined)).toEqual(["failed", "not asked"]);
  vi.advanceTimersByTime(5000);
  expect(await calls(undefined, "broken")).toEqual(["answered", "failed"]);
  expect(said).toEqual(["opened", "closed"]);
});

test("a modern that answers errors is down while its circuit is open", async () => {
  const { modern, states, call } = open();
  const answer = async () => {
    modern.answered();
    throw new ModernFailure("it answers with status 500");
  };
  for (let i = 0; i < 3; i++) await modern.execute(answer, false).catch(() => undefined);
  expect(states.at(-1)).toEqual([false, "it answers with status 500", undefined]);
  vi.advanceTimersByTime(5000);
  await call();
  expect(states.at(-1)).toEqual([true, undefined, undefined]);
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
  expect([states.at(-1), modern.isFailing()]).toEqual([[false, "it takes too long to answer", undefined], true]);
  modern.answered();
  fail("unreachable");
  expect(states.at(-1)).toEqual([false, "it cannot be reached", undefined]);
});

test("until modern has answered, the reason asks if MODERN_URL is right", () => {
  const { modern, states } = open();
  modern.failed(request, new UpstreamFailure("unreachable", request));
  const question = "it has not answered since the start: is MODERN_URL (http://modern.example/v1) right?";
  expect(states).toEqual([[false, "it cannot be reached", question]]);
});
