import { expect, onTestFinished, test, vi } from "vitest";
import { openDependencies } from "../../../src/operation/telemetry/dependencies.ts";

test("a state keeps the time since when it holds", async () => {
  vi.useFakeTimers({ now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const dependencies = openDependencies({ gauge: () => undefined });
  const report = dependencies.add("legacy", { trouble: "Legacy has been failing", effect: "nothing is answered" });
  /** Its reported state at a later time, with the second since which it holds. */
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
