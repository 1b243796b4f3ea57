import fc from "fast-check";
import { expect, test } from "vitest";
import { type Entry, privateOne, publicOne } from "./smallLegacy.ts";
import { standingOver } from "./smallStanding.ts";

const OWNER = 16;
const uploader = fc.constantFrom(OWNER, OWNER, 17, 1);
const is = fc.constantFrom<Entry["is"]>("private", "private", "private", "public", "hidden");
const catalogue = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.record({ is, uploader })), {
  selector: ([id]) => id,
  minLength: 1,
  maxLength: 6,
});
/** At such a call a row is deleted or turns public or private, and the index learns of it at once or not yet. */
const happening = fc.record({
  at: fc.integer({ min: 1, max: 8 }),
  row: fc.nat(5),
  to: fc.constantFrom("none" as const, "private" as const, "public" as const),
  isLearned: fc.boolean(),
});

test("whatever happens to rows while legacy is asked, who is no administrator is never taken for one", async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, fc.array(happening, { maxLength: 5 }), async (rows, changes) => {
      const { legacy, index, learn, standingOf } = standingOver(rows);
      let calls = 0;
      legacy.before = () => {
        calls++;
        for (const { row, to, isLearned } of changes.filter(({ at }) => at === calls)) {
          const [id, entry] = rows[row % rows.length] as [number, Entry];
          if (to === "none") legacy.rows.delete(id);
          else if (legacy.rows.has(id)) legacy.rows.set(id, { ...entry, is: to });
          if (!isLearned) continue;
          if (legacy.rows.get(id)?.is === "private") learn(id);
          else index.remove(id);
        }
      };
      for (let i = 0; i < 3; i++)
        for (const who of [OWNER, 99]) expect(await standingOf(who)).not.toHaveProperty("shown");
    }),
    { numRuns: 600 },
  );
});

test("where nothing happens an administrator is one, unless there is nothing to tell it by", async () => {
  await fc.assert(
    fc.asyncProperty(catalogue, async (rows) => {
      const { legacy, index, standingOf } = standingOver(rows);
      const readable = index.rows().filter(({ shown }) => shown !== undefined);
      const own = legacy.privateIds().filter((id) => legacy.rows.get(id)?.uploader === 1);
      const others = readable.filter(({ id }) => !own.includes(id));
      const ownsAll = own.length > 0 && own.length === index.rows().length;
      const expected =
        readable.length === 0
          ? ownsAll
            ? { owns: own }
            : "unknown"
          : others.length === 0
            ? { owns: own }
            : { shown: own };
      for (let i = 0; i < 2; i++) expect(await standingOf("administrator")).toEqual(expected);
      expect(legacy.newCalls().length).toBeLessThanOrEqual(12);
    }),
    { numRuns: 300 },
  );
});

test.each(Array.from({ length: 3 }, (_, i) => i + 1))(
  "an owner who deletes their only row, or makes it public, at question %i is no administrator",
  async (moment) => {
    for (const [change, others] of [publicOne, undefined].flatMap((one) => [
      [one, []] as const,
      [one, [[7, { ...privateOne, uploader: 17 }]]] as const,
    ])) {
      const { legacy, index, standingOf } = standingOver([[2, { ...privateOne, uploader: OWNER }], ...others]);
      let calls = 0;
      legacy.before = () => {
        if (++calls === moment) legacy.rows.delete(2);
        if (calls === moment && change) legacy.rows.set(2, change);
      };
      expect(index.get(2)).toBeDefined();
      for (let i = 0; i < 2; i++) expect(await standingOf(OWNER)).not.toHaveProperty("shown");
    }
  },
);
