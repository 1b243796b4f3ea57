import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DatasetRow } from "../../fixtures/sampleLegacy/catalogueRows.ts";
import { askList, expectedList } from "./askList.ts";
import { type Bed, openBed } from "./bed.ts";
import type { ListInput } from "./model.ts";
import type { Caller } from "./people.ts";
import { pools } from "./pools.ts";
import { randomCatalogue } from "./randomCatalogue.ts";
import { randomCaller, randomInput } from "./randomQuestion.ts";
import { startWalked } from "./walked.ts";

/** How many catalogues are tried; `CASES=1000` for a long run. */
const CASES = Number(process.env["CASES"] ?? 30);

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

/** A catalogue may begin with its last id. */
const widely = { walk: { margin: pools.highestId } };

/** Nobody is told whose a private row is, nor what one without a file is. */
const mayBeIncomplete = (rows: readonly DatasetRow[], { user }: Caller, { uploader }: ListInput) => {
  const hidden = rows.filter((row) => row.visibility === "private" && row.uploader !== user?.id);
  return (uploader !== undefined && hidden.length > 0) || hidden.some((row) => row.file_id === null);
};

/** A caller as legacy's list takes them: an administrator is nobody special there. */
const plain = (caller: Caller): Caller =>
  caller.user ? { ...caller, user: { ...caller.user, role: "normal" } } : caller;

const catalogues = fc.oneof(
  { weight: 3, arbitrary: randomCatalogue() },
  { weight: 1, arbitrary: randomCatalogue({ withoutFile: true }) },
);
const questions = fc.array(fc.tuple(randomCaller, randomInput), { minLength: 1, maxLength: 12 });

test("every caller gets what the model says, and a list that may lack something says so", async () => {
  const told = { complete: 0, incomplete: 0 };
  await fc.assert(
    fc.asyncProperty(catalogues, questions, async (rows, asked) => {
      bed.use(rows);
      const gateway = await startWalked(bed.url, {}, widely);
      try {
        for (const [caller, input] of asked) {
          let listed = await askList(gateway.app, caller, input);
          // A machine that stands still for two seconds leaves legacy no time to answer.
          if (listed.isIncomplete && !mayBeIncomplete(rows, caller, input))
            listed = await askList(gateway.app, caller, input);
          const { isIncomplete, ...answer } = listed;
          expect(answer).toEqual(expectedList(rows, isIncomplete ? plain(caller) : caller, input));
          expect(isIncomplete === true && !mayBeIncomplete(rows, caller, input)).toBe(false);
          if (caller.user?.role === "administrator") told[isIncomplete ? "incomplete" : "complete"]++;
        }
      } finally {
        await gateway.close();
      }
    }),
    { numRuns: CASES },
  );
  expect(told.complete).toBeGreaterThan(told.incomplete);
  expect(told.incomplete).toBeGreaterThan(0);
});

test("whoever pages through all there is meets each row once, in the order of ids", async () => {
  await fc.assert(
    fc.asyncProperty(randomCatalogue(), randomCaller, fc.integer({ min: 1, max: 7 }), async (rows, caller, limit) => {
      bed.use(rows);
      const gateway = await startWalked(bed.url, {}, widely);
      const pages = [];
      for (let offset = 0; ; offset += limit) {
        const { status, body } = await askList(gateway.app, caller, { status: "all", limit, offset });
        if (status !== 200) break;
        pages.push(body);
      }
      const whole = await askList(gateway.app, caller, { status: "all" });
      await gateway.close();
      expect(pages.flat()).toEqual(whole.status === 200 ? whole.body : []);
    }),
    { numRuns: CASES / 3 },
  );
});
