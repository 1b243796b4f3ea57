import { describe, expect, test } from "vitest";
import { fuzz } from "./attacks/fuzz.ts";
import { onOldClients } from "./attacks/index.ts";
import { runAttack } from "./lib/attack.ts";

describe("a fuzzed client against a fuzzed upstream", () => {
  test.each([fuzz, onOldClients(fuzz)])("1,000 requests of $name: no wrong and no missing answer", async (attack) => {
    const checks = await runAttack(attack, { seed: 12, requests: 1000 });
    // How many sound answers come in time is for `npm run torture`, on a machine of its own.
    const inTime = new Set(["right answers", "sound answers that were lost or late"]);
    expect(checks.filter(({ what, holds }) => !holds && !inTime.has(what))).toEqual([]);
    expect(checks.map(({ what }) => what)).toContain("exit code at SIGTERM");
  });
});
