import { describe, expect, test } from "vitest";
import { fuzz } from "./attacks/fuzz.ts";
import { runAttack } from "./lib/context.ts";

describe("a fuzzed client against a fuzzed upstream", () => {
  test("1,000 requests: no wrong and no missing answer, and the state is as before", async () => {
    const checks = await runAttack(fuzz, { seed: 12, requests: 1000 });
    expect(checks.filter(({ holds }) => !holds)).toEqual([]);
    expect(checks.map(({ what }) => what)).toContain("exit code at SIGTERM");
  });
});
