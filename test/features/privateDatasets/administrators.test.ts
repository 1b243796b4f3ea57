import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DatasetRow } from "../../../src/tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../src/tools/sampleLegacy/completeDataset.ts";
import { askList, expectedList, type ListAnswer } from "./askList.ts";
import { type Bed, openBed } from "./bed.ts";
import { type ListedRow, type ListInput, matches, modelList } from "./model.ts";
import { administrator, type Caller, owner } from "./people.ts";
import { pools } from "./pools.ts";
import { randomCatalogue } from "./randomCatalogue.ts";
import { randomCaller, randomInput } from "./randomQuestion.ts";
import { startScanned } from "./scanned.ts";

/** How many catalogues are tried; `CASES=1000` for a long run. */
const CASES = Number(process.env["CASES"] ?? 15);
/** Of a run that is to be repeated: `SEED=1`. */
const seed = process.env["SEED"] === undefined ? {} : { seed: Number(process.env["SEED"]) };
const LONG = 300_000 + CASES * 1000;

/** Legacy gives each list in another order. */
let bed: Bed;
let draw = 1;
beforeAll(async () => {
  bed = await openBed({ listsInNoOrder: () => (draw = (draw * 16_807) % 2_147_483_647) / 2_147_483_647 });
});
afterAll(() => bed.close());

/** A catalogue may begin with its last id. */
const widely = { scan: { margin: pools.highestId + 1, retry: 1 } };

const isPrivate = ({ visibility }: DatasetRow) => visibility === "private";
const isUntold = ({ file_id }: DatasetRow) => file_id === null;

/** The rows of a whole list, in the model's order. */
const allOf = (rows: readonly DatasetRow[], caller: Caller, input: ListInput): ListedRow[] => {
  const { offset: _, ...all } = input;
  const answer = modelList(rows, caller.user, { ...all, limit: 10_000 });
  return answer.status === 200 ? answer.body : [];
};

const rowsOf = ({ status, body }: ListAnswer): ListedRow[] => (status === 200 ? (body as ListedRow[]) : []);

/**
 * What an administrator's list has for certain, and whether there may be more. `known`: private rows whose uploader has come to light, since
 * somebody with a key asked for that uploader's rows and was listed them.
 */
const certainFor = (
  rows: readonly DatasetRow[],
  { user }: Caller,
  { uploader, ...otherwise }: ListInput,
  known: ReadonlySet<number>,
): { rows: DatasetRow[]; isIncomplete: boolean } => {
  const { data_id } = otherwise;
  const mayBeTheirs = (row: DatasetRow) => uploader === undefined || !known.has(row.id) || row.uploader === uploader;
  const isLeftOut = (row: DatasetRow) => {
    if (!isPrivate(row) || !mayBeTheirs(row)) return false;
    if (isUntold(row)) return data_id === undefined || [data_id].flat().includes(row.id);
    return uploader !== undefined && !known.has(row.id) && matches(row, otherwise);
  };
  return {
    // Legacy's list has their own.
    rows: rows.filter((row) => row.uploader === user?.id || !isLeftOut(row)),
    isIncomplete: rows.some(isLeftOut),
  };
};

/** Legacy's own list has no order. */
const expectUnordered = (listed: readonly ListedRow[], all: readonly ListedRow[], input: ListInput) => {
  const { limit = 100, offset = 0 } = input;
  expect(listed).toHaveLength(Math.max(0, Math.min(limit, all.length - offset)));
  expect(new Set(listed.map(({ did }) => did)).size).toBe(listed.length);
  for (const row of listed) expect(all).toContainEqual(row);
};

type Listing = { rows: readonly DatasetRow[]; caller: Caller; input: ListInput; known: Set<number> };

/** Checks one answer, and gives what legacy was asked for to make it: the rows that it has listed. */
const check = ({ rows, caller, input, known }: Listing, answer: ListAnswer, isIncomplete: boolean): ListedRow[] => {
  const isRefused = caller.key !== undefined && caller.user === undefined;
  const isAdministrator = caller.user?.role === "administrator";
  const certain = isAdministrator ? certainFor(rows, caller, input, known) : { rows: [...rows], isIncomplete: false };
  expect(isIncomplete).toBe(certain.isIncomplete);
  if (isAdministrator || isRefused) expect(answer).toEqual(expectedList(certain.rows, caller, input));
  else expectUnordered(rowsOf(answer), allOf(certain.rows, caller, input), input);
  if (!isAdministrator) return rowsOf(answer);
  const own = rows.filter((row) => !isPrivate(row) || row.uploader === caller.user?.id);
  return allOf(own, caller, input);
};

const catalogues = fc.oneof(randomCatalogue(), randomCatalogue({ withoutFile: true }));
/** One catalogue whose list is complete, and one whose list lacks a private dataset, which has no file. */
const examples = [1, null].map((file_id): [DatasetRow[], [Caller, ListInput][]] => [
  [completeDataset({ id: 3, name: "kept", uploader: owner.user.id, visibility: "private", file_id })],
  [[administrator, {}]],
]);
const questions = fc.array(fc.tuple(randomCaller, randomInput), { minLength: 1, maxLength: 12 });

test(
  "every list is what the model says, but for rows that it says may be lacking",
  async () => {
    const seen = { complete: 0, incomplete: 0 };
    await fc.assert(
      fc.asyncProperty(catalogues, questions, async (rows, asked) => {
        bed.use(rows);
        const gateway = await startScanned(bed.url, {}, widely);
        const known = new Set<number>();
        try {
          for (const [caller, input] of asked) {
            const isCertain =
              caller.user?.role !== "administrator" || !certainFor(rows, caller, input, known).isIncomplete;
            const ask = async (): Promise<ListAnswer & { isIncomplete?: boolean }> => {
              const answer = await askList(gateway.app, caller, input);
              // Until legacy has said who is an administrator, which a list does not wait for.
              return answer.isIncomplete === true && isCertain ? ask() : answer;
            };
            const { isIncomplete = false, ...answer } = await ask();
            const listed = check({ rows, caller, input, known }, answer, isIncomplete);
            if (caller.key !== undefined && input.uploader !== undefined)
              for (const { did } of listed) if (rows.some((row) => row.id === did && isPrivate(row))) known.add(did);
            if (caller.user?.role === "administrator") seen[isIncomplete ? "incomplete" : "complete"]++;
          }
        } finally {
          await gateway.close();
        }
      }),
      { numRuns: CASES, examples, ...seed },
    );
    expect(seen.complete).toBeGreaterThan(0);
    expect(seen.incomplete).toBeGreaterThan(0);
  },
  LONG,
);
