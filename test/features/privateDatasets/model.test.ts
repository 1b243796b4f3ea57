import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completeDataset } from "../../../src/tools/sampleLegacy/completeDataset.ts";
import { gatewayFor, type TestGateway } from "../../support/gateway.ts";
import { askList, expectedList } from "./askList.ts";
import { type Bed, openBed } from "./bed.ts";
import { type ListInput, modelList } from "./model.ts";
import { administrator, nobody, otherOwner, owner, readOnly, secondAdministrator, user } from "./people.ts";
import { randomCatalogue } from "./randomCatalogue.ts";
import { randomInput, randomVisitor } from "./randomQuestion.ts";

/** How many catalogues are tried; `CASES=10000` for a long run. */
const CASES = Number(process.env["CASES"] ?? 40);

let bed: Bed;
let gateway: TestGateway;

beforeAll(async () => {
  bed = await openBed();
  // What is kept would be of the catalogue before.
  gateway = await gatewayFor(bed.url, { CACHE_BYTES: "0" });
});
afterAll(async () => {
  await gateway.close();
  await bed.close();
});

const catalogues = fc.oneof(
  randomCatalogue({ withoutFile: true, emptyQualities: true }),
  randomCatalogue({ withoutFile: true, emptyQualities: true, blanksAtEnd: true }),
);
const questions = fc.array(fc.tuple(randomVisitor, randomInput), { minLength: 3, maxLength: 8 });

test("callers who are not administrators get the model's answer from legacy", async () => {
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(catalogues, questions, async (rows, asked) => {
      bed.use(rows);
      for (const [caller, input] of asked) {
        const answer = await askList(gateway.app, caller, input);
        expect(answer).toEqual(expectedList(rows, caller, input));
        statuses.add(answer.status);
      }
    }),
    { numRuns: CASES },
  );
  expect(statuses).toEqual(new Set([200, 401, 404]));
});

test("of more than a hundred, the first hundred", async () => {
  const rows = Array.from({ length: 120 }, (_, i) => completeDataset({ id: i + 1, name: `set_${i}` }));
  bed.use(rows);
  const answer = await askList(gateway.app, nobody, {});
  expect(answer).toEqual(expectedList(rows, nobody, {}));
  expect(answer.body).toHaveLength(100);
});

describe("the model, which no legacy answers for", () => {
  const rows = [
    completeDataset({ id: 9, name: "kept", visibility: "private", uploader: owner.user.id }),
    completeDataset({ id: 2, name: "open", uploader: owner.user.id }),
    completeDataset({ id: 5, name: "Own", visibility: "private", uploader: administrator.user.id }),
    completeDataset({ id: 7, name: "old", visibility: "private", uploader: owner.user.id, status: "deactivated" }),
  ];
  const ids = (input: ListInput, caller: { user?: (typeof owner)["user"] }) => {
    const answer = modelList(rows, caller.user, input);
    return answer.status === 200 ? answer.body.map(({ did }) => did) : answer.status;
  };

  test.each([
    [nobody, [2]],
    [user, [2]],
    [otherOwner, [2]],
    [readOnly, [2]],
    [owner, [2, 7, 9]],
    [administrator, [2, 5, 7, 9]],
    [secondAdministrator, [2, 5, 7, 9]],
  ])("$name sees what is for them", (caller, expected) => {
    expect(ids({ status: "all" }, caller)).toEqual(expected);
  });

  test.each<[ListInput, number[] | number]>([
    [{}, [2, 5, 9]],
    [{ limit: 1, offset: 1 }, [5]],
    [{ offset: 3 }, 404],
    [{ status: "deactivated" }, [7]],
    [{ data_name: "OWN " }, [5]],
    [{ uploader: 16, data_id: [9, 5] }, [9]],
    [{ number_instances: "0..100" }, 404],
  ])("filters count for an administrator as for anybody: %j", (input, expected) => {
    expect(ids(input, administrator)).toEqual(expected);
  });
});
