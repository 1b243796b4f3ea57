import fc from "fast-check";
import { expect, test } from "vitest";
import { openInvalidationLog } from "../../../src/gateway/cache/invalidationLog.ts";

test("a read that began before a write is older than it", () => {
  const log = openInvalidationLog({ now: () => 0 });
  const before = log.mark();
  log.write(["a/1", "b"]);
  const after = log.mark();
  expect([log.written(["b"], before), log.written(["c"], before), log.written(["a/1"], after)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a write counts while it may be going on", () => {
  let now = 0;
  const log = openInvalidationLog({ now: () => now });
  log.write(["a"], 500);
  log.write(["a"]);
  expect(log.written(["a"], log.mark())).toBe(true);
  now = 500;
  expect(log.written(["a"], log.mark())).toBe(false);
});

test("past its bound the oldest writes count for everything", () => {
  const log = openInvalidationLog({ now: () => 0, maxBytes: 900 });
  const before = log.mark();
  log.write(["dataset/1"], 10);
  const between = log.mark();
  log.write(["setup/1", "setup/2", "setup/3"]);
  expect(log.written(["study/3"], before)).toBe(false);
  log.write(["flow/3"]);
  // The forgotten write may still be going on.
  expect([log.written(["study/3"], before), log.written(["study/3"], log.mark())]).toEqual([true, true]);
  expect(log.written(["setup/2"], between)).toBe(true);
});

test("a name too long to be remembered counts for everything", () => {
  const log = openInvalidationLog({ now: () => 0 });
  log.write([`dataset/${"1".repeat(500)}`]);
  expect(log.written(["setup/1"], 0)).toBe(true);
  expect(log.written(["setup/1"], log.mark())).toBe(false);
});

test("many writes concern only the reads that began before them", () => {
  const log = openInvalidationLog({ now: () => 0 });
  for (let i = 0; i < 20_000; i++) log.write([`dataset/${i}`]);
  const now = log.mark();
  expect([log.written(["setup/1"], 0), log.written(["dataset/1"], now)]).toEqual([true, false]);
});

test("whatever is written, the bounded log never allows what an unbounded one refuses", () => {
  const group = fc.oneof(
    fc.tuple(fc.constantFrom("dataset", "setup", "flow"), fc.nat(8)).map(([kind, id]) => `${kind}/${id}`),
    fc.constantFrom("dataset", "datasets", "setup", "@getDataset", "*", "dataset/", `x/${"y".repeat(320)}`),
  );
  const step = fc.oneof(
    fc.record({ groups: fc.array(group, { maxLength: 6 }), hold: fc.constantFrom(0, 0, 30, 300) }),
    fc.record({ pass: fc.nat(60) }),
    fc.constant("read" as const),
  );
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.array(group, { minLength: 1, maxLength: 4 }),
      fc.nat(1500),
      (steps, about, maxBytes) => {
        let now = 0;
        const log = openInvalidationLog({ now: () => now, maxBytes });
        const all: { group: string; sequence: number; until: number }[] = [];
        let sequence = 0;
        const reads: { mark: number; sequence: number }[] = [];
        for (const one of steps) {
          if (one === "read") reads.push({ mark: log.mark(), sequence });
          else if ("pass" in one) now += one.pass;
          else {
            sequence++;
            for (const name of one.groups) all.push({ group: name, sequence, until: now + one.hold });
            log.write(one.groups, now + one.hold);
          }
          for (const read of reads) {
            const isWritten = all.some(
              (write) => about.includes(write.group) && (write.sequence > read.sequence || write.until > now),
            );
            expect([isWritten, isWritten && !log.written(about, read.mark)]).toEqual([isWritten, false]);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});
