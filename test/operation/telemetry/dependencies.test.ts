import { expect, onTestFinished, test, vi } from "vitest";
import { openDependencies } from "../../../src/operation/telemetry/dependencies.ts";
import { type FailureKind, UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import { openUpstreamHealth } from "../../../src/gateway/upstream/upstream.ts";

test("a state keeps the time since when it holds", async () => {
  vi.useFakeTimers({ now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const dependencies = openDependencies({ gauge: () => undefined });
  const report = dependencies.add("legacy", { trouble: "Legacy has been failing", effect: "nothing is answered" });
  /** What is said of it later, with the second since which it holds. */
  const stateAt = (second: number) => {
    vi.setSystemTime(second * 1000);
    return dependencies.states().map(({ since, ...state }) => ({ ...state, since: Date.parse(since) / 1000 }))[0];
  };
  expect(stateAt(1)).toEqual({ name: "legacy", state: "ok", since: 0 });
  report(true);
  report(false, "it cannot be reached");
  expect(stateAt(2)).toEqual({ name: "legacy", state: "failed", since: 1, why: "it cannot be reached" });
  report(false, "it takes too long");
  expect(stateAt(3)).toEqual({ name: "legacy", state: "failed", since: 1, why: "it takes too long" });
  report(true);
  expect(stateAt(4)).toEqual({ name: "legacy", state: "ok", since: 3 });
});

test("an upstream is down when it cannot be reached, or failed three times in a row", () => {
  const states: [boolean, string?][] = [];
  const health = openUpstreamHealth((...state) => states.push(state));
  const { length } = states;
  const request = { method: "GET", path: "/" };
  const fail = (kind: FailureKind) => health.failed(request, new UpstreamFailure(kind, request));
  const answer = () => health.answered(request, undefined);
  for (const kind of ["timeout", "broken", "aborted", "overloaded", "crowded", "tooLarge"] as const) fail(kind);
  answer();
  fail("timeout");
  fail("timeout");
  expect(states.slice(length)).toEqual([[true]]);
  fail("timeout");
  expect(states.at(-1)).toEqual([false, "it takes too long to answer"]);
  answer();
  fail("unreachable");
  expect(states.at(-1)).toEqual([false, "it cannot be reached"]);
});
