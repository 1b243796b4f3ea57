import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readPairs } from "../fixtures/pairs.ts";
import { serveHandlers, type ServedHandlers } from "../fixtures/serveHandlers.ts";
import { endpoints } from "../transforms/index.ts";
import { expectPair } from "./fixtureCheck.ts";
import { gatewayFor } from "./support.ts";

const pairs = readPairs();
let legacy: ServedHandlers;
let gateway: ReturnType<typeof gatewayFor>;

beforeAll(async () => {
  legacy = await serveHandlers();
  gateway = gatewayFor(legacy.url, { CACHE_BYTES: "0" });
});
afterAll(async () => {
  await gateway.close();
  await legacy.close();
});

test("there are at least 120 pairs, each of an endpoint, and every endpoint has some", () => {
  expect(pairs.length).toBeGreaterThanOrEqual(120);
  expect(new Set(pairs.map(({ endpoint }) => endpoint))).toEqual(new Set(Object.keys(endpoints)));
});

describe.each(Object.keys(endpoints))("%s", (name) => {
  test.each(pairs.filter(({ endpoint }) => endpoint === name).map((pair) => [pair.example, pair] as const))(
    "%s",
    (_, pair) => expectPair(pair, gateway, legacy),
  );
});
