import { setupServer } from "msw/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { legacyHandlers, modernHandlers } from "catalog-gateway-kit/fixtures";

// The client under test: who made a dataset, by either interface.
type Legacy = { data_set_description: { creator: string }; error?: { message: string } };
const byLegacy = async (id: number): Promise<string[]> => {
  const response = await fetch(`https://legacy.example/api/v1/json/data/${id}`);
  const { error, data_set_description: dataset } = (await response.json()) as Legacy;
  if (error) throw new Error(error.message);
  return dataset.creator.split(/,\s*/);
};

type Modern = { creator: string[]; detail: { message: string } };
const byModern = async (id: number): Promise<string[]> => {
  const response = await fetch(`https://catalogue.example/v1/datasets/${id}`);
  const { detail, creator } = (await response.json()) as Modern;
  if (!response.ok) throw new Error(detail.message);
  return creator;
};

const server = setupServer(...legacyHandlers(), ...modernHandlers());
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterAll(() => server.close());

test.each([byLegacy, byModern])("the kit's handlers answer a client by fetch: %o", async (creatorsOf) => {
  expect(await creatorsOf(61)).toEqual(["R.A. Fisher"]);
  await expect(creatorsOf(999_999)).rejects.toThrow("Unknown dataset");
  await expect(creatorsOf(225)).rejects.toThrow("No access granted");
});

test("the kit's handlers answer by one example of a name: the database is down", async () => {
  const down = { endpoint: "getDataset", example: "database-down" };
  server.use(...legacyHandlers(down), ...modernHandlers(down));
  // Legacy answers this error in XML, also to a request for JSON.
  await expect(byLegacy(201)).rejects.toThrow("is not valid JSON");
  await expect(byModern(201)).rejects.toThrow("Database connection error");
});
