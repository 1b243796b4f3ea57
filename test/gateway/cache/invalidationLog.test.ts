import fc from "fast-check";
import { expect, test } from "vitest";
import { openInvalidationLog } from "../../../src/gateway/cache/invalidationLog.ts";

test("a write that is over does not end the doubt about an earlier one", () => {
  let now = 0;
  const log = openInvalidationLog({ now: () => now });
  log.write(["dataset/1"], 30);
  log.write(["dataset/1"], now);
  const mark = log.mark();
  expect(log.written(["dataset/1"], mark)).toBe(true);
  now = 30;
  expect(log.written(["dataset/1"], mark)).toBe(false);
});

test("whatever is written, the bounded log never allows what an unbounded one refuses", () => {
  const group = fc.oneof(
    fc.tuple(fc.constantFrom("dataset", "setup", "flow"), fc.nat(8)).map(([kind, id]) => `${kind}/${id}`),
    fc.constantFrom(
      "dataset",
      "datasets",
      "setup",
      "@getDataset",
      "*",
      "dataset/",
      `x/${"y".repeat(320)}`,
      `y/${"z".repeat(500)}`,
    ),
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
