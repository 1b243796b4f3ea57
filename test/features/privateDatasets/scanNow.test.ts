import fc from "fast-check";
import { expect, test } from "vitest";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { casesOf } from "../../support/cases.ts";
import { until } from "../../support/waiting.ts";
import { askList, expectedList } from "./askList.ts";
import { openBed } from "./bed.ts";
import type { ListInput } from "./model.ts";
import { administrator, otherOwner, owner, type Caller } from "./people.ts";
import { pools } from "./pools.ts";
import { randomCatalogue } from "./randomCatalogue.ts";
import { randomInput, randomVisitor } from "./randomQuestion.ts";
import { startScanned } from "./scanned.ts";

/** A change behind the gateway between two scans. */
type Change = { turns: number } | { deletes: number } | { tags: number } | { adds: "public" | "private" };
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ turns: fc.nat(60) }),
  fc.record({ deletes: fc.nat(60) }),
  fc.record({ tags: fc.nat(60) }),
  fc.record({ adds: fc.constantFrom("public" as const, "private" as const) }),
);
const step = fc.record({
  changes: fc.array(change, { maxLength: 4 }),
  turned: fc.nat(60),
  questions: fc.array(fc.tuple(randomVisitor, randomInput), { minLength: 2, maxLength: 4 }),
});

const apply = (rows: DatasetRow[], made: Change, nextId: () => number): void => {
  const place =
    ("turns" in made ? made.turns : "deletes" in made ? made.deletes : "tags" in made ? made.tags : 0) % rows.length;
  const row = rows[place];
  if ("adds" in made)
    rows.push(completeDataset({ id: nextId(), name: "iris", visibility: made.adds, uploader: otherOwner.user.id }));
  else if (row === undefined) return;
  else if ("turns" in made) row.visibility = row.visibility === "public" ? "private" : "public";
  else if ("deletes" in made) rows.splice(place, 1);
  else row.tags = [["demo", owner.user.id]];
};

test(
  "after a scan lists equal the model's; before it a list that lacks rows says so",
  { timeout: 300_000 },
  async () => {
    const bed = await openBed();
    await fc.assert(
      fc.asyncProperty(randomCatalogue(), fc.array(step, { minLength: 1, maxLength: 3 }), async (catalogue, steps) => {
        bed.use([...catalogue, completeDataset({ id: pools.highestId + 1, name: "last" })]);
        let last = pools.highestId + 1;
        // Cached answers may be a minute old.
        const gateway = await startScanned(bed.url, { CACHE_BYTES: "0" }, { scan: { pause: 1, retry: 1, margin: 70 } });
        const scanNow = async () => {
          // The scan that runs may have begun before.
          for (let i = 0; i < 2; i++) {
            const { completedAt } = gateway.state();
            await until(() => gateway.state().completedAt !== completedAt);
          }
        };
        const ask = (caller: Caller, input: ListInput) => askList(gateway.app, caller, input);
        try {
          for (const { changes, turned, questions } of steps) {
            for (const made of changes) apply(bed.datasets, made, () => ++last);
            await scanNow();
            for (const [visitor, input] of questions) {
              const { uploader: _, ...known } = input;
              const { isIncomplete, ...answer } = await ask(administrator, known);
              expect(isIncomplete).toBeUndefined();
              expect(answer).toEqual(expectedList(bed.datasets, administrator, known));
              const { isIncomplete: isTheirs, ...theirs } = await ask(visitor, input);
              expect(isTheirs).toBeUndefined();
              expect(theirs).toEqual(expectedList(bed.datasets, visitor, input));
            }
            apply(bed.datasets, { turns: turned }, () => ++last);
            const complete: unknown[] = [];
            const expected: unknown[] = [];
            for (const [, { uploader: _, ...input }] of questions) {
              const { isIncomplete, ...answer } = await ask(administrator, input);
              if (isIncomplete) continue;
              complete.push(answer);
              expected.push(expectedList(bed.datasets, administrator, input));
            }
            expect(complete).toEqual(expected);
          }
        } finally {
          await gateway.close();
        }
      }),
      { numRuns: casesOf(2) },
    );
    await bed.close();
  },
);
