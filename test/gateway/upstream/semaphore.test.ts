import fc from "fast-check";
import { expect, test } from "vitest";
import { openSemaphore, type Turn } from "../../../src/gateway/upstream/semaphore.ts";

const turn = (name: string, started: string[]): Turn => ({
  start: () => void started.push(name),
  expire: () => {},
});

test("so many run, so many wait in their order, more are refused", () => {
  const gate = openSemaphore({ places: 1, queue: 2, waitTimeout: 1000 });
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

test("in any order of events as many run as there are places, and all get their turn", () => {
  const event = fc.record({ kind: fc.constantFrom("enter", "leave", "withdraw"), which: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 80 }), (events) => {
      const gate = openSemaphore({ places: 3, queue: 100, waitTimeout: 1000 });
      const waiting = new Set<Turn>();
      const running = new Set<Turn>();
      const enter = () => {
        const each: Turn = { start: () => void (waiting.delete(each), running.add(each)), expire: () => {} };
        waiting.add(each);
        gate.enter(each);
      };
      const leave = (each: Turn) => {
        running.delete(each);
        gate.leave();
      };
      for (const { kind, which } of events) {
        const of = kind === "withdraw" ? waiting : running;
        const each = [...of][which % Math.max(1, of.size)];
        if (kind === "enter") enter();
        else if (each === undefined) continue;
        else if (kind === "leave") leave(each);
        else {
          waiting.delete(each);
          gate.withdraw(each);
        }
        expect([gate.running, gate.waiting]).toEqual([running.size, waiting.size]);
        expect(gate.running).toBe(Math.min(3, running.size + waiting.size));
      }
      while (running.size > 0) for (const each of running) leave(each);
      expect([gate.running, gate.waiting]).toEqual([0, 0]);
    }),
  );
});
