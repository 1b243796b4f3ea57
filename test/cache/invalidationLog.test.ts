import fc from "fast-check";
import { expect, test } from "vitest";
import { openInvalidationLog } from "../../src/cache/invalidationLog.ts";

test("a read that began before a write is older than it", () => {
  const log = openInvalidationLog({ longest: 1000, now: () => 0 });
  const before = log.mark();
  log.write(["a/1", "b"]);
  const after = log.mark();
  expect([log.written(["b"], before), log.written(["c"], before), log.written(["a/1"], after)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a write counts while it may be going on; old writes are discarded", () => {
  let now = 0;
  const log = openInvalidationLog({ longest: 1000, now: () => now });
  log.write(["a"], 500);
  log.write(["a"]);
  expect(log.written(["a"], log.mark())).toBe(true);
  now = 500;
  expect(log.written(["a"], log.mark())).toBe(false);
  now = 2000;
  log.write(["b"]);
  expect(log.written(["a"], 0)).toBe(false);
});

test("past its bound the oldest writes count for everything of their kind", () => {
  const log = openInvalidationLog({ longest: 1000, now: () => 0, maxGroups: 4 });
  const before = log.mark();
  log.write(["dataset/1"], 10);
  log.write(["setup/1", "setup/2", "setup/3"]);
  const after = log.mark();
  expect(log.written(["dataset/3"], before)).toBe(false);
  log.write(["flow/3"]);
  expect([log.written(["dataset/3", "dataset"], before), log.written(["study/3"], before)]).toEqual([true, false]);
  // The collapsed write may still be going on.
  expect([log.written(["dataset/3"], after), log.written(["flow/4"], after)]).toEqual([true, false]);
});

test("a name too long to be remembered counts for everything", () => {
  const log = openInvalidationLog({ longest: 1000, now: () => 0 });
  log.write([`dataset/${"1".repeat(400)}`]);
  expect(log.written(["setup/1"], 0)).toBe(true);
  expect(log.written(["setup/1"], log.mark())).toBe(false);
});

test("it stays within its bounds however many writes there are", () => {
  const log = openInvalidationLog({ longest: 1e9, now: () => 0 });
  const long = "x".repeat(250);
  for (let i = 0; i < 200_000; i += 100) {
    log.write(Array.from({ length: 100 }, (_, n) => `dataset/${i + n}`));
    log.write([`setup/${long}${i}`, `kind${i}/1`]);
    const { groups, kinds, bytes } = log.size();
    expect([groups <= 10_000, kinds <= 1000, bytes <= 2 * 1024 ** 2]).toEqual([true, true, true]);
  }
  const now = log.mark();
  expect([log.written(["dataset/1"], 0), log.written(["dataset/199999"], 0), log.written(["dataset/1"], now)]).toEqual([
    true,
    true,
    false,
  ]);
});

test("whatever is written, the bounded log never allows what an unbounded one refuses", () => {
  const longest = 100;
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
      fc.nat(6),
      fc.nat(1500),
      (steps, about, maxGroups, maxBytes) => {
        let now = 0;
        const log = openInvalidationLog({ longest, now: () => now, maxGroups, maxBytes });
        const all: { group: string; sequence: number; until: number }[] = [];
        let sequence = 0;
        const reads: { mark: number; sequence: number; at: number }[] = [];
        for (const one of steps) {
          if (one === "read") reads.push({ mark: log.mark(), sequence, at: now });
          else if ("pass" in one) now += one.pass;
          else {
            sequence++;
            for (const name of one.groups) all.push({ group: name, sequence, until: now + one.hold });
            log.write(one.groups, now + one.hold);
          }
          for (const read of reads) {
            if (now - read.at >= longest) continue;
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
