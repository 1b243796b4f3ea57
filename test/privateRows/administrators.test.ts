import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DatasetRow } from "../../fixtures/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../fixtures/sampleLegacy/completeDataset.ts";
import { askList, expectedList, type ListAnswer } from "./askList.ts";
import { type Bed, openBed } from "./bed.ts";
import { type ListedRow, type ListInput, matches, modelList } from "./model.ts";
import { type Caller, owner } from "./people.ts";
import { pools } from "./pools.ts";
import { randomCatalogue } from "./randomCatalogue.ts";
import { randomAdministrator, randomCaller, randomInput } from "./randomQuestion.ts";
import { startWalked } from "./walked.ts";

/** How many catalogues are tried; `CASES=1000` for a long run. */
const CASES = Number(process.env["CASES"] ?? 30);
/** Of a run that is to be repeated: `SEED=1`. */
const seed = process.env["SEED"] === undefined ? {} : { seed: Number(process.env["SEED"]) };
const LONG = 20_000 + CASES * 1000;

/** Legacy gives each list in another order. */
let bed: Bed;
let draw = 1;
beforeAll(async () => {
  bed = await openBed({ listsInNoOrder: () => (draw = (draw * 16_807) % 2_147_483_647) / 2_147_483_647 });
});
afterAll(() => bed.close());

/** A catalogue may begin with its last id. */
const widely = { walk: { margin: pools.highestId + 1, retry: 1 } };

const isPrivate = ({ visibility }: DatasetRow) => visibility === "private";
const isUntold = ({ file_id }: DatasetRow) => file_id === null;

/** The rows of a list whoever asks for all of them at once, in the model's order. */
const allOf = (rows: readonly DatasetRow[], caller: Caller, input: ListInput): ListedRow[] => {
  const { offset: _, ...all } = input;
  const answer = modelList(rows, caller.user, { ...all, limit: 10_000 });
  return answer.status === 200 ? answer.body : [];
};

const rowsOf = ({ status, body }: ListAnswer): ListedRow[] => (status === 200 ? (body as ListedRow[]) : []);

/** The ids of private rows whose uploader has come to light, since somebody with a key asked for that uploader's rows and was listed them. */
const learnedBy = (known: Set<number>, rows: readonly DatasetRow[], answer: ListAnswer, { uploader }: ListInput) => {
  if (uploader === undefined) return;
  const listed = new Set(rowsOf(answer).map(({ did }) => did));
  for (const { id } of rows.filter(isPrivate)) if (listed.has(id)) known.add(id);
};

/** What an administrator's list has for certain, and whether there may be more: rows that nobody is told of, or not whose they are. */
const certainFor = (
  rows: readonly DatasetRow[],
  caller: Caller,
  input: ListInput,
  known: ReadonlySet<number>,
): { rows: DatasetRow[]; isIncomplete: boolean } => {
  const isOwn = ({ uploader }: DatasetRow) => uploader === caller.user?.id;
  const mayMatch = (row: DatasetRow) =>
    input.data_id === undefined || [input.data_id].flat().includes(row.id) ? true : false;
  const { uploader: _, ...otherwise } = input;
  const isLeftOut = (row: DatasetRow) =>
    isPrivate(row) &&
    (isUntold(row)
      ? mayMatch(row) &&
        (input.uploader === undefined ||
          !known.has(row.id) ||
          matches(row, { uploader: input.uploader, status: "all" }))
      : input.uploader !== undefined && !known.has(row.id) && matches(row, otherwise));
  return {
    rows: rows.filter((row) => isOwn(row) || !isLeftOut(row)),
    isIncomplete: rows.some(isLeftOut),
  };
};

/** Pages of legacy's own list have no order, and rows of it in any. */
const expectUnordered = (answer: ListAnswer, all: readonly ListedRow[], { limit = 100, offset = 0 }: ListInput) => {
  const rows = rowsOf(answer);
  expect(rows).toHaveLength(Math.max(0, Math.min(limit, all.length - offset)));
  expect(new Set(rows.map(({ did }) => did)).size).toBe(rows.length);
  for (const row of rows) expect(all).toContainEqual(row);
};

const catalogues = fc.oneof(randomCatalogue(), randomCatalogue({ withoutFile: true }));
const questions = fc.array(fc.tuple(randomCaller, randomInput), { minLength: 1, maxLength: 12 });

test(
  "every list is what the model says, but for rows that it says may be lacking",
  async () => {
    const told = { complete: 0, incomplete: 0 };
    await fc.assert(
      fc.asyncProperty(catalogues, questions, async (rows, asked) => {
        bed.use(rows);
        const gateway = await startWalked(bed.url, {}, widely);
        const known = new Set<number>();
        try {
          for (const [caller, input] of asked) {
            const { isIncomplete = false, ...answer } = await askList(gateway.app, caller, input);
            if (caller.user?.role !== "administrator") {
              expect(isIncomplete).toBe(false);
              if (caller.key !== undefined && caller.user === undefined)
                expect(answer).toEqual(expectedList(rows, caller, input));
              else expectUnordered(answer, allOf(rows, caller, input), input);
              if (caller.key !== undefined) learnedBy(known, rows, answer, input);
              continue;
            }
            const certain = certainFor(rows, caller, input, known);
            expect(isIncomplete).toBe(certain.isIncomplete);
            told[isIncomplete ? "incomplete" : "complete"]++;
            const all = allOf(certain.rows, caller, input);
            const isMerged = certain.rows.some(
              (row) =>
                isPrivate(row) &&
                !isUntold(row) &&
                matches(row, input) &&
                (input.uploader === undefined || known.has(row.id)),
            );
            if (isMerged) expect(answer).toEqual(expectedList(certain.rows, caller, input));
            else expectUnordered(answer, all, input);
            // A merged list has been read whole.
            const { offset: _, ...unpaged } = input;
            if (isMerged)
              learnedBy(
                known,
                rows,
                {
                  status: 200,
                  body: allOf(
                    rows.filter((row) => !isPrivate(row) || row.uploader === caller.user?.id),
                    caller,
                    unpaged,
                  ),
                },
                input,
              );
            else learnedBy(known, rows, answer, input);
          }
        } finally {
          await gateway.close();
        }
      }),
      { numRuns: CASES, ...seed },
    );
    expect(told.complete).toBeGreaterThan(0);
    expect(told.incomplete).toBeGreaterThan(0);
  },
  LONG,
);

test(
  "who pages through a merged list meets each row once by id, though legacy has no order",
  async () => {
    const somebodys = completeDataset({ id: pools.highestId + 1, name: "last", uploader: owner.user.id });
    await fc.assert(
      fc.asyncProperty(
        catalogues,
        randomAdministrator,
        randomInput,
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        async (drawn, caller, { uploader: _, data_id: __, ...drawnInput }, limit, isCached) => {
          const rows: DatasetRow[] = [...drawn, { ...somebodys, visibility: "private", tags: [["demo", 1]] }];
          const input: ListInput = drawn.length % 2 === 0 ? drawnInput : { status: "all", tag: "demo" };
          const last = rows.at(-1);
          if (last === undefined || !matches(last, input)) return;
          bed.use(rows);
          const gateway = await startWalked(bed.url, isCached ? {} : { CACHE_BYTES: "0" }, widely);
          const pages: ListedRow[] = [];
          try {
            for (let offset = 0; ; offset += limit) {
              const answer = await askList(gateway.app, caller, { ...input, limit, offset });
              if (answer.status !== 200) break;
              pages.push(...rowsOf(answer));
            }
          } finally {
            await gateway.close();
          }
          const told = rows.filter((row) => !isPrivate(row) || !isUntold(row) || row.uploader === caller.user?.id);
          expect(pages).toEqual(allOf(told, caller, input));
        },
      ),
      { numRuns: CASES, ...seed },
    );
  },
  LONG,
);
