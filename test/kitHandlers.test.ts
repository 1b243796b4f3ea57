import { readFileSync } from "node:fs";
import { getResponse } from "msw";
import { describe, expect, test } from "vitest";
import { chosenPairs } from "../fixtures/chosenPairs.ts";
import { legacyHandlers } from "../fixtures/legacyHandlers.ts";
import { modernHandlers } from "../fixtures/modernHandlers.ts";
import { type Pair, readPairs } from "../fixtures/pairs.ts";

const key = "DA1A0000000000000000000000000000";

const requestOf = ({ ask: { method, path, key: by, query = "", json, text, type } }: Pair, prefix = "/v1") =>
  new Request(`https://catalogue.example${prefix}${path}?${query}`, {
    method,
    headers: { "Content-Type": type ?? "application/json", ...(by === undefined ? {} : { "X-API-Key": by }) },
    ...(method === "POST" ? { body: text ?? (json === undefined ? "" : JSON.stringify(json)) } : {}),
  });
const isAnswered = async (pair: Pair, response: Response | undefined) => {
  expect(response?.status).toBe(pair.expected.status);
  const body = JSON.parse(JSON.stringify(pair.expected.body).replaceAll('"*"', '"any text"')) as unknown;
  expect(await response?.json()).toEqual(body);
};

test.each(readPairs().map((pair) => [`${pair.endpoint} ${pair.example}`, pair] as const))(
  "%s: the new interface answers it as expected, below any prefix",
  async (_, pair) => {
    await isAnswered(pair, await getResponse(modernHandlers(pair), requestOf(pair)));
    await isAnswered(pair, await getResponse(modernHandlers(pair, "/api/v2"), requestOf(pair, "/api/v2")));
    expect(await getResponse(modernHandlers(pair), requestOf(pair, "/v3"))).toBeUndefined();
  },
);

describe("the new interface", () => {
  const url = "https://catalogue.example/v1/datasets/211";
  const asked = async (target: string, headers: Record<string, string> = {}) =>
    (
      await getResponse(
        modernHandlers({ endpoint: "getDataset", example: "private-for-its-owner" }),
        new Request(target, { headers }),
      )
    )?.status;

  test("takes the key in each of the three ways, and no other", async () => {
    expect(await asked(`${url}?api_key=${key}`)).toBe(200);
    expect(await asked(url, { Authorization: `Bearer ${key}` })).toBe(200);
    expect(await asked(url, { "X-API-Key": key })).toBe(200);
    expect(await asked(url)).toBeUndefined();
    expect(await asked(url, { "X-API-Key": "0".repeat(32) })).toBeUndefined();
    expect(await asked(`${url}?api_key=${key}&other=1`)).toBeUndefined();
  });
});

test("of pairs that answer the same, an answer goes before an error, and fewer questions before more", () => {
  const ranks = chosenPairs({ endpoint: "getDataset" }).map(
    ({ expected, legacy }) => [expected.status === 200, legacy.length] as const,
  );
  const firstError = ranks.findIndex(([isAnswer]) => !isAnswer);
  expect(ranks.slice(firstError).every(([isAnswer]) => !isAnswer)).toBe(true);
  const counts = ranks.slice(0, firstError).map(([, count]) => count);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts).toContain(2);
});

test("all of legacy without an argument, or below another path; a choice of nothing is an error", async () => {
  const asked = async (path: string, ...by: Parameters<typeof legacyHandlers>) =>
    (await getResponse(legacyHandlers(...by), new Request(`http://legacy.example${path}`)))?.status;
  expect(await asked("/api/v1/json/data/61")).toBe(200);
  expect(await asked("/api/v1/json/data/61", { endpoint: "getStudy" })).toBeUndefined();
  expect(await asked("/rest/json/data/61", {}, "/rest")).toBe(200);
  expect(() => legacyHandlers({ endpoint: "getDataset", example: "nothing" })).toThrow("no pair getDataset/nothing");
  expect(() => modernHandlers({ endpoint: "getNothing" })).toThrow("no pair getNothing/*");
});

test("the documented example is the one that is tested", () => {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  expect(read("README.md")).toContain(`\`\`\`ts\n${read("test/kit.test.ts")}\`\`\``);
});
