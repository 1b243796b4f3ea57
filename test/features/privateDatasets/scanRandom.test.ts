import fc from "fast-check";
import { expect, test } from "vitest";
import type { Kept } from "../../../src/features/privateDatasets/rows.ts";
import { type Entry, smallLegacy, type SmallLegacy } from "./smallLegacy.ts";
import { startWalk } from "./smallScan.ts";

const entry = fc.constantFrom<Entry[]>(
  { is: "public" },
  { is: "private" },
  { is: "private", uploader: 1 },
  { is: "hidden" },
);

/** What happens to legacy: a row comes beyond all others; one is changed, or deleted for good. */
type Change = { adds: Entry; beyond: number } | { changes: number; to: Entry } | { deletes: number };
const change = fc.oneof(
  fc.record({ adds: entry, beyond: fc.constantFrom(1, 1, 2) }),
  fc.record({ changes: fc.nat(60), to: entry }),
  fc.record({ deletes: fc.nat(60) }),
);

/** Meanwhile: at such a call something happens, somebody asks about a row, or the walk is cut off or held up. */
const meanwhile = fc.record({
  at: fc.nat(40),
  does: fc.oneof(change, fc.record({ asks: fc.nat(60) }), fc.constantFrom("stop" as const, "pause" as const)),
});
const step = fc.record({
  before: fc.array(change, { maxLength: 4 }),
  meanwhile: fc.array(meanwhile, { maxLength: 3 }),
});

const catalogue = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 30 }), entry), { selector: ([id]) => id, maxLength: 20 })
  .map((rows) => rows.toSorted(([a], [b]) => a - b));

/** Legacy gives no id twice; and none here is so high that it would be beyond the margin. */
const changing = (legacy: SmallLegacy) => {
  let last = Math.max(0, ...legacy.rows.keys());
  const ids = () => [...legacy.rows.keys()];
  const idAt = (n: number) => ids()[n % Math.max(1, legacy.rows.size)];
  return {
    idAt,
    apply: (one: Change): void => {
      if ("adds" in one) legacy.rows.set((last += one.beyond), one.adds);
      const id = idAt("changes" in one ? one.changes : "deletes" in one ? one.deletes : 0);
      if (id === undefined) return;
      if ("changes" in one) legacy.rows.set(id, one.to);
      if ("deletes" in one) legacy.rows.delete(id);
    },
  };
};

test("an undisturbed scan knows exactly the private rows, whatever happened before", async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, fc.array(step, { maxLength: 5 }), async (rows, steps) => {
      const legacy = smallLegacy(rows);
      const { apply, idAt } = changing(legacy);
      let kept: Kept | undefined;
      for (const { before, meanwhile: events } of steps) {
        for (const one of before) apply(one);
        const walk = startWalk(legacy, kept);
        let calls = 0;
        let isStopped = false;
        legacy.before = () => {
          calls++;
          for (const { does } of events.filter(({ at }) => at === calls)) {
            if (does === "stop") isStopped = true;
            else if (does === "pause") walk.walk.mayWalk = false;
            else if ("asks" in does) walk.queue.add(idAt(does.asks) ?? 1);
            else apply(does);
          }
          if (isStopped) void walk.stop();
        };
        if (kept?.walk.completedAt !== undefined) walk.again();
        await walk.walkedOr(() => isStopped);
        kept = await walk.stop();
      }
      legacy.before = () => undefined;
      const last = startWalk(legacy, kept);
      if (kept?.walk.completedAt !== undefined) last.again();
      expect(await last.walked()).toEqual(legacy.privateIds());
      expect(last.hidden()).toEqual(legacy.privateIds().filter((id) => legacy.rows.get(id)?.is === "hidden"));
      await last.stop();
    }),
    {
      numRuns: Number(process.env["CASES"] ?? 40),
      // A row comes below one that somebody asks for, after its id was looked at.
      examples: [
        [
          [],
          [
            {
              before: [],
              meanwhile: [
                { at: 3, does: { adds: { is: "private" }, beyond: 1 } },
                { at: 4, does: { adds: { is: "private", uploader: 1 }, beyond: 1 } },
                { at: 4, does: { asks: 31 } },
              ],
            },
          ],
        ],
      ],
    },
  );
});
