import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askList, expectedList } from "./askList.ts";
import { type Bed, openBed } from "./bed.ts";
import { administrator } from "./people.ts";
import { randomCatalogue } from "./randomCatalogue.ts";
import { gatewayFor } from "../support.ts";

const CASES = Number(process.env["CASES"] ?? 40);
let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

test("x", async () => {
  await fc.assert(
    fc.asyncProperty(
      randomCatalogue({}),
      fc.array(randomInput, { minLength: 1, maxLength: 5 }),
      async (rows, inputs) => {
        bed.use(rows);
        const gateway = gatewayFor(bed.url, {
          LEGACY_ADMIN_KEY: "AD400000000000000000000000000000",
          PRIVATE_WALK_RATE: "100000",
        });
        await gateway.machine.privateRows?.start();
        while (gateway.machine.privateRows?.state().state !== "complete") await new Promise((r) => setTimeout(r, 5));
        for (const input of inputs) {
          const { uploader: _, ...rest } = input;
          const answer = await askList(gateway.app, administrator, rest);
          expect(answer).toEqual(expectedList(rows, administrator, rest));
        }
        await gateway.close();
      },
    ),
    { numRuns: CASES },
  );
});
