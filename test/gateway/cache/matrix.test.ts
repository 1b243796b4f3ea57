import { expect, test } from "vitest";
import { cachedGateway, clock } from "./support.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const groups = '"dataset/61", "dataset"';
const lifetimes = "public, max-age=600, stale-while-revalidate=3600, stale-if-error=604800";

// 10 minutes fresh, then an hour stale while revalidated, 7 days stale if error.
test.each([
  [5 * minute, "hit; ttl=300", 300],
  [40 * minute, "hit; ttl=-1800; detail=stale-while-revalidate", 2400],
  [3 * day, "fwd=stale; ttl=-258600; detail=stale-if-error", 259_200],
])("an entry %i ms old is served with its headers while legacy is down", async (age, status, seconds) => {
  const { pass } = clock();
  const { legacy, ask } = await cachedGateway();
  const { body } = await ask("/v1/datasets/61");
  pass(age);
  legacy.mode = "down";
  const answer = await ask("/v1/datasets/61");
  const names = ["cache-control", "cache-groups", "age", "cache-status"];
  const headers = names.map((name) => answer.headers.get(name));
  expect([answer.status, answer.body, ...headers]).toEqual([
    200,
    body,
    lifetimes,
    groups,
    String(seconds),
    `catalog-gateway; ${status}`,
  ]);
});

test("an entry past all its lifetimes is not served while legacy is down", async () => {
  const { pass } = clock();
  const { legacy, ask } = await cachedGateway();
  await ask("/v1/datasets/61");
  pass(8 * day);
  legacy.mode = "down";
  const { status, headers } = await ask("/v1/datasets/61");
  expect([status, headers.get("cache-control"), headers.get("age")]).toEqual([502, "no-store", null]);
});
