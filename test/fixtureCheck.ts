import { expect } from "vitest";
import { legacyHandlers } from "../fixtures/legacyHandlers.ts";
import type { Pair } from "../fixtures/pairs.ts";
import type { ServedHandlers } from "../fixtures/serveHandlers.ts";
import type { gatewayFor } from "./support.ts";

type Gateway = ReturnType<typeof gatewayFor>;

const ask = (gateway: Gateway, { ask: { method, path, key, query, json, text, type } }: Pair) => {
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

/** That a gateway in front of this legacy asks what the pair says, and answers what the pair expects. */
export const expectPair = async (pair: Pair, gateway: Gateway, legacy: ServedHandlers): Promise<void> => {
  legacy.use(legacyHandlers(pair.legacy));
  const response = await ask(gateway, pair);
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
};
