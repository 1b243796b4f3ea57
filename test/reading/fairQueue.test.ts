import fc from "fast-check";
import { expect, test } from "vitest";
import { openFairQueue, type Queued } from "../../src/reading/fairQueue.ts";

type Job = Queued & { n: number };
const job = (caller: string, n: number, bytes = 1): Job => ({ caller, n, bytes });
const taken = (queue: ReturnType<typeof openFairQueue<Job>>): string[] => {
  const order: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) order.push(`${next.caller}${next.n}`);
  return order;
};

test("callers take turns, each with its oldest job first", () => {
  const queue = openFairQueue<Job>({ jobs: 10, bytes: 10 });
  for (const one of [job("a", 1), job("a", 2), job("a", 3), job("b", 1), job("c", 1), job("b", 2)]) queue.add(one);
  expect(taken(queue)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("where there is no room, the newest job of whoever holds the most has to go", () => {
  const queue = openFairQueue<Job>({ jobs: 3, bytes: 100 });
  for (const n of [1, 2, 3]) expect(queue.add(job("greedy", n))).toEqual([]);
  expect(queue.add(job("greedy", 4))).toEqual([job("greedy", 4)]);
  expect(queue.add(job("other", 1))).toEqual([job("greedy", 3)]);
  expect(taken(queue)).toEqual(["greedy1", "other1", "greedy2"]);
});

test("a job that is larger than all room goes, and only that one", () => {
  const queue = openFairQueue<Job>({ jobs: 3, bytes: 10 });
  queue.add(job("a", 1, 5));
  expect(queue.add(job("b", 1, 11))).toEqual([job("b", 1, 11)]);
  expect(taken(queue)).toEqual(["a1"]);
});

test("neither bound is ever passed, and what is counted is what is there", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ caller: fc.constantFrom("a", "b", "c"), bytes: fc.integer({ min: 1, max: 9 }) }),
      fc.constantFrom("take" as const, "remove" as const),
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const queue = openFairQueue<Job>({ jobs: 5, bytes: 20 });
      let inside: Job[] = [];
      let isRight = true;
      for (const [n, step] of all.entries()) {
        if (step === "take") {
          const next = queue.take();
          isRight &&= (next === undefined) === (inside.length === 0);
          inside = inside.filter((one) => one !== next);
        } else if (step === "remove") {
          const [some] = inside;
          isRight &&= some === undefined || queue.remove(some);
          inside = inside.slice(1);
        } else {
          const added = { ...step, n };
          const gone = queue.add(added);
          inside = [...inside, added].filter((one) => !gone.includes(one));
        }
        const bytes = inside.reduce((sum, one) => sum + one.bytes, 0);
        expect(queue.size()).toEqual({ jobs: inside.length, bytes });
        expect(isRight && inside.length <= 5 && bytes <= 20).toBe(true);
      }
    }),
  );
});
