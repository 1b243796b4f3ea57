import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { casesOf } from "../../support/cases.ts";
import { until } from "../../support/waiting.ts";
import { openBed } from "./bed.ts";
import { administrator, nobody, owner } from "./people.ts";
import { HIGHEST_ID, randomCatalogue, randomInput } from "./randomLists.ts";
import { type Listed, through } from "./through.ts";

/** A change that bypasses the gateway: of a dataset, or a new dataset. */
const change = fc.record({
  kind: fc.constantFrom("turns", "is deleted", "gets a tag", "new public", "new private"),
  at: fc.nat(HIGHEST_ID),
});
type Change = { kind: string; at: number };

const apply = (rows: DatasetRow[], { kind, at }: Change, nextId: () => number): void => {
  const visibility = /^new (.*)/.exec(kind)?.[1];
  if (visibility !== undefined)
    rows.push(completeDataset({ id: nextId(), name: "iris", visibility, uploader: owner.user.id }));
  const row = rows[at % rows.length];
  if (row === undefined) return;
  if (kind === "turns") row.visibility = row.visibility === "public" ? "private" : "public";
  if (kind === "is deleted") rows.splice(at % rows.length, 1);
  if (kind === "gets a tag") row.tags = [["demo", owner.user.id]];
};

const step = fc.record({
  changes: fc.array(change, { maxLength: 4 }),
  turned: fc.nat(HIGHEST_ID),
  inputs: fc.array(randomInput, { minLength: 2, maxLength: 6 }),
});

const seen = ({ ids, isIncomplete, text }: Listed) => ({ ids, isIncomplete, text });

// Legacy lists to an owner all of his datasets: so it is known what an administrator has to be listed.
test(
  "after a scan an administrator is listed what the owner is; before it a list that lacks rows says so",
  { timeout: 300_000 },
  async () => {
    const bed = await openBed();
    onTestFinished(() => bed.close());
    await fc.assert(
      fc.asyncProperty(randomCatalogue, fc.array(step, { minLength: 1, maxLength: 3 }), async (catalogue, steps) => {
        let last = HIGHEST_ID + 1;
        bed.use([...catalogue, completeDataset({ id: last, name: "last", uploader: owner.user.id })]);
        // Cached answers may be a minute old.
        const gateway = await through(bed, { CACHE_BYTES: "0" }, { scan: { pause: 1, retry: 1, margin: 70 } });
        const scanTwice = async () => {
          // The scan that runs may have begun before.
          for (let i = 0; i < 2; i++) {
            const completedAt = gateway.state()?.completedAt;
            await until(() => gateway.state()?.completedAt !== completedAt);
          }
        };
        try {
          for (const { changes, turned, inputs } of steps) {
            for (const made of changes) apply(bed.datasets, made, () => ++last);
            await scanTwice();
            for (const input of inputs) {
              expect(seen(await gateway.post(administrator, input))).toEqual(seen(await gateway.post(owner, input)));
              const { ids } = await gateway.post(nobody, input);
              const isPublic = (id: number) => bed.datasets.find((row) => row.id === id)?.visibility === "public";
              expect([ids].flat().filter((did) => did !== 404 && !isPublic(did))).toEqual([]);
            }
            apply(bed.datasets, { kind: "turns", at: turned }, () => ++last);
            for (const input of inputs) {
              const answer = await gateway.post(administrator, input);
              const { text } = answer.isIncomplete ? answer : await gateway.post(owner, input);
              expect(answer.text).toBe(text);
            }
          }
        } finally {
          await gateway.close();
        }
      }),
      { numRuns: casesOf(2) },
    );
  },
);
