import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { type Semaphore, openSemaphore, type Turn } from "../../src/upstream/semaphore.ts";

afterEach(() => void vi.useRealTimers());

const turn = (name: string, started: string[], isUpload = false): Turn => ({
  start: () => void started.push(name),
  expire: () => void started.push(`${name} expired`),
  isUpload,
});

test("so many run, so many wait in their order, more are refused", () => {
  const gate = openSemaphore({ places: 1, queue: 2 });
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
  const gate = openSemaphore({ places: 1, queue: 1 });
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
  const gate = openSemaphore({ places: 1, queue: 9, waitTimeout: 1000 });
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
  const gate = openSemaphore({ places: 4, queue: 9 });
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
  const gate = openSemaphore({ places: 1, queue: 9 });
  const log: string[] = [];
  gate.enter(turn("u", log, true));
  expect(log).toEqual(["u"]);
});

test("uploads that wait never keep another request from waiting", () => {
  const gate = openSemaphore({ places: 2, queue: 4 });
  const log: string[] = [];
  const enter = (name: string, isUpload: boolean) => gate.enter(turn(name, log, isUpload));
  expect([1, 2, 3, 4].map((i) => enter(`u${i}`, true))).toEqual([true, true, true, false]);
  expect([1, 2, 3, 4, 5, 6].map((i) => enter(`g${i}`, false))).toEqual([true, true, true, true, true, false]);
  expect(log).toEqual(["u1", "g1"]);
  expect(gate.waiting).toBe(6);
});

/** A turn that goes at the pace of a client which has stalled for so long; it leaves when it has to give way. */
const slowTurn = (gate: Semaphore, name: string, log: string[], stalled: number): Turn => {
  const slow: Turn = {
    ...turn(name, log),
    stalledFor: () => stalled,
    giveWay: () => {
      log.push(`${name} gives way`);
      gate.leave(slow);
    },
  };
  return slow;
};

test("slow turns run beside the places, and then in them until another one waits", async () => {
  const gate = openSemaphore({ places: 2, queue: 9, asidePlaces: 1 });
  const log: string[] = [];
  const [a, b, c] = [3, 1, 2].map((stalled, i) => slowTurn(gate, "abc"[i] ?? "", log, stalled)) as [Turn, Turn, Turn];
  const state = () => [gate.running, gate.aside, gate.slow, gate.waiting];
  for (const each of [a, b, c]) gate.enter(each);
  expect(log).toEqual(["a", "b"]);
  gate.becomesSlow(a);
  expect(log).toEqual(["a", "b", "c"]);
  gate.becomesSlow(b);
  gate.becomesSlow(c);
  expect(state()).toEqual([2, 1, 2, 0]);

  const others = ["d", "e", "f"].map((name) => turn(name, log)) as [Turn, Turn, Turn];
  for (const each of others) gate.enter(each);
  expect(log.slice(3)).toEqual(["a gives way", "d", "c gives way", "e"]);
  expect(state()).toEqual([2, 1, 0, 1]);

  let isIdle = false;
  const idle = gate.idle().then(() => (isIdle = true));
  for (const each of others) gate.leave(each);
  await Promise.resolve();
  expect(isIdle).toBe(false);
  gate.leave(b);
  await idle;
  expect(state()).toEqual([0, 0, 0, 0]);
});

test("in any order of events as many run as there are places, and all get their turn", () => {
  const event = fc.record({
    kind: fc.constantFrom("enter", "upload", "slow", "leave", "withdraw"),
    which: fc.nat(20),
    stalled: fc.nat(5),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 80 }), fc.nat(3), (events, asidePlaces) => {
      const gate = openSemaphore({ places: 3, queue: 100, asidePlaces });
      const waiting = new Set<Turn>();
      const running = new Set<Turn>();
      const slow = new Set<Turn>();
      const leaving: Turn[] = [];
      const enter = (isUpload: boolean, stalled: number) => {
        const each: Turn = {
          isUpload,
          start: () => void (waiting.delete(each), running.add(each)),
          expire: () => {},
          stalledFor: () => stalled,
          giveWay: () => void leaving.push(each),
        };
        waiting.add(each);
        gate.enter(each);
      };
      const leave = (each: Turn) => {
        running.delete(each);
        slow.delete(each);
        gate.leave(each);
      };
      for (const { kind, which, stalled } of events) {
        const of = kind === "withdraw" ? waiting : running;
        const each = [...of][which % Math.max(1, of.size)];
        if (kind === "enter" || kind === "upload") enter(kind === "upload", stalled);
        else if (each === undefined) continue;
        else if (kind === "leave") leave(each);
        else if (kind === "withdraw") {
          waiting.delete(each);
          gate.withdraw(each);
        } else if (!slow.has(each)) {
          slow.add(each);
          gate.becomesSlow(each);
        }
        if (which % 2 === 0) for (const ended of leaving.splice(0)) if (running.has(ended)) leave(ended);
        expect(gate.running + gate.aside).toBe(running.size);
        expect(gate.waiting).toBe(waiting.size);
        expect(gate.running).toBeLessThanOrEqual(3);
        expect(gate.aside).toBeLessThanOrEqual(asidePlaces);
        expect(gate.slow === 0 || gate.aside === asidePlaces).toBe(true);
      }
      for (const ended of leaving) if (running.has(ended)) leave(ended);
      while (running.size > 0) for (const each of running) leave(each);
      expect([gate.running, gate.aside, gate.slow, gate.waiting]).toEqual([0, 0, 0, 0]);
    }),
  );
});
