import { expect, test } from "vitest";
import { openGate } from "../../src/upstream/gate.ts";

const turn = (name: string, started: string[]): { start: () => void } => ({ start: () => started.push(name) });

test("so many run, so many wait in their order, more are refused", () => {
  const gate = openGate(1, 2);
  const started: string[] = [];
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => turn(name, started));
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("unreachable");
  expect([a, b, c, d].map((each) => gate.enter(each))).toEqual([true, true, true, false]);
  expect(started).toEqual(["a"]);
  expect([gate.running, gate.waiting]).toEqual([1, 2]);

  expect(gate.withdraw(b)).toBe(true);
  expect(gate.withdraw(b)).toBe(false);
  expect(gate.withdraw(a)).toBe(false);
  expect(gate.enter(d)).toBe(true);
  gate.leave();
  gate.leave();
  expect(started).toEqual(["a", "c", "d"]);
  gate.leave();
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test("idle comes when the last has left, or at once", async () => {
  const gate = openGate(1, 1);
  await gate.idle();
  gate.enter(turn("a", []));
  let idle = false;
  const waits = gate.idle().then(() => (idle = true));
  await Promise.resolve();
  expect(idle).toBe(false);
  gate.leave();
  await waits;
});
