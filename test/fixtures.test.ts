import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { legacyHandlers } from "../fixtures/legacyHandlers.ts";
import { type Pair, readPairs } from "../fixtures/pairs.ts";
import { serveHandlers, type ServedHandlers } from "../fixtures/serveHandlers.ts";
import { endpoints } from "../transforms/index.ts";
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

const ask = ({ ask: { method, path, key, query, json, text, type } }: Pair) => {
  const search = [query, key === undefined ? undefined : `api_key=${encodeURIComponent(key)}`]
    .filter(Boolean)
    .join("&");
  const body = text ?? (json === undefined ? undefined : JSON.stringify(json));
  return gateway.app.request(`/v1${path}${search ? `?${search}` : ""}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { "Content-Type": type ?? "application/json" } }),
  });
};

/** `"*"` in what is expected stands for any text. */
const filled = (expected: unknown, actual: unknown): unknown => {
  if (expected === "*" && typeof actual === "string" && actual !== "") return actual;
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null)
    return expected;
  if (Array.isArray(expected)) return expected.map((entry, i) => filled(entry, (actual as unknown[])[i]));
  return Object.fromEntries(
    Object.entries(expected).map(([key, value]) => [key, filled(value, (actual as Record<string, unknown>)[key])]),
  );
};

test("there are at least 120 pairs, each of an endpoint, and every endpoint has some", () => {
  expect(pairs.length).toBeGreaterThanOrEqual(120);
  expect(new Set(pairs.map(({ endpoint }) => endpoint))).toEqual(new Set(Object.keys(endpoints)));
});

describe.each(Object.keys(endpoints))("%s", (name) => {
  test.each(pairs.filter(({ endpoint }) => endpoint === name).map((pair) => [pair.example, pair] as const))(
    "%s",
    async (_, pair) => {
      legacy.use(legacyHandlers(pair.legacy));
      const response = await ask(pair);
      const actual: unknown = JSON.parse(await response.text());
      expect({ status: response.status, body: actual }).toEqual({
        status: pair.expected.status,
        body: filled(pair.expected.body, actual),
      });
      // The order of the fields is part of what was decided.
      expect(JSON.stringify(actual)).toBe(JSON.stringify(filled(pair.expected.body, actual)));
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(legacy.unexpected).toEqual([]);
      const probes = legacy.asked.length - pair.legacy.length;
      const isProbed = pair.legacy.length === 0 && pair.ask.key !== undefined;
      expect(probes).toBeGreaterThanOrEqual(0);
      expect(probes).toBeLessThanOrEqual(isProbed ? 1 : 0);
      const wanted = pair.legacy.map(({ request }) => `${request.method} /api/v1${request.path}`);
      expect(legacy.asked.slice(0, wanted.length).map((line) => line.split("?")[0])).toEqual(wanted);
    },
  );
});
