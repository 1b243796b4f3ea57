import { expect, test } from "vitest";
import type { DependencyState } from "../../src/telemetry/dependencies.ts";
import { combineDependencies } from "../../src/workers/dependencies.ts";

const ok = (name: string, since: string): DependencyState => ({ name, state: "ok", since });
const failed = (name: string, since: string): DependencyState => ({ name, state: "failed", since, why: since });

test("a dependency has failed since the first failure that any process has seen", () => {
  const own = [ok("legacy", "2026-01-04"), ok("redis", "2026-01-01")];
  const workers = [
    [failed("legacy", "2026-01-03"), ok("redis", "2026-01-02")],
    [failed("legacy", "2026-01-02"), ok("modern", "2026-01-01")],
  ];
  expect(combineDependencies([own, ...workers])).toEqual([
    failed("legacy", "2026-01-02"),
    ok("redis", "2026-01-02"),
    ok("modern", "2026-01-01"),
  ]);
});
