import { afterEach, expect, test, vi } from "vitest";
import { openGate, type Turn } from "../../src/upstream/gate.ts";

afterEach(() => void vi.useRealTimers());

const turn = (name: string, started: string[], isUpload = false): Turn => ({
  start: () => void started.push(name),
  expire: () => void started.push(`${name} expired`),
  isUpload,
});

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
  gate.leave(a);
  gate.leave(c);
  expect(started).toEqual(["a", "c", "d"]);
  gate.leave(d);
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test("idle comes when the last has left, or at once", async () => {
  const gate = openGate(1, 1);
  await gate.idle();
  const a = turn("a", []);
  gate.enter(a);
  let idle = false;
  const waits = gate.idle().then(() => (idle = true));
  await Promise.resolve();
  expect(idle).toBe(false);
  gate.leave(a);
  await waits;
});

test("a turn that waits too long expires once, and those behind it move up", () => {
  vi.useFakeTimers();
  const gate = openGate(1, 9, 1000);
  const log: string[] = [];
  const [a, b, c] = ["a", "b", "c"].map((name) => turn(name, log)) as [Turn, Turn, Turn];
  gate.enter(a);
  gate.enter(b);
  vi.advanceTimersByTime(600);
  gate.enter(c);
  vi.advanceTimersByTime(600);
  expect(log).toEqual(["a", "b expired"]);
  expect(gate.withdraw(b)).toBe(false);
  gate.leave(a);
  vi.advanceTimersByTime(10_000);
  expect(log).toEqual(["a", "b expired", "c"]);
  gate.leave(c);
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test("uploads take at most half of the places, and wait in the order of all", () => {
  const gate = openGate(4, 9);
  const log: string[] = [];
  const [u, v, w, x] = ["u", "v", "w", "x"].map((name) => turn(name, log, true)) as [Turn, Turn, Turn, Turn];
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => turn(name, log)) as [Turn, Turn, Turn, Turn];
  for (const each of [u, v, w, a, b, c, x, d]) expect(gate.enter(each)).toBe(true);
  expect(log).toEqual(["u", "v", "a", "b"]);
  gate.leave(a);
  expect(log.slice(4)).toEqual(["c"]);
  gate.leave(u);
  gate.leave(b);
  expect(log.slice(5)).toEqual(["w", "d"]);
  gate.leave(v);
  expect(log.slice(7)).toEqual(["x"]);
  for (const each of [w, x, c, d]) gate.leave(each);
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test("the only place is open to uploads, too", () => {
  const gate = openGate(1, 9);
  const log: string[] = [];
  gate.enter(turn("u", log, true));
  expect(log).toEqual(["u"]);
});

test("uploads that wait never keep another request from waiting", () => {
  const gate = openGate(2, 4);
  const log: string[] = [];
  const enter = (name: string, isUpload: boolean) => gate.enter(turn(name, log, isUpload));
  expect([1, 2, 3, 4].map((i) => enter(`u${i}`, true))).toEqual([true, true, true, false]);
  expect([1, 2, 3, 4, 5, 6].map((i) => enter(`g${i}`, false))).toEqual([true, true, true, true, true, false]);
  expect(log).toEqual(["u1", "g1"]);
  expect(gate.waiting).toBe(6);
});
