import { expect, test } from "vitest";
import { once } from "../../../src/operation/limits/once.ts";

test("simultaneous calls share an attempt, and a failed attempt is repeated", async () => {
  let attempts = 0;
  const make = once(async () => {
    attempts++;
    await Promise.resolve();
    if (attempts === 1) throw new Error("no descriptors");
    return attempts;
  });
  const [first, second] = await Promise.allSettled([make(), make()]);
  expect([first?.status, second?.status, attempts]).toEqual(["rejected", "rejected", 1]);
  expect([await make(), await make(), attempts]).toEqual([2, 2, 2]);
});
