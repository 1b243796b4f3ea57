import { expect, test } from "vitest";
import { cachedGateway, clock } from "./support.ts";
import { settled } from "../../support/waiting.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

const record = (version: number) =>
  `{"id":61,"visibility":null,"status":null,"name":"nobody ${version}","licence":null,"version":null,"version_label":null,"language":null,"creator":[],"contributor":[],"citation":null,"paper_url":null,"upload_date":null,"processing_date":null,"error":null,"warning":null,"collection_date":null,"description":null,"description_version":null,"tag":[],"default_target_attribute":[],"ignore_attribute":[],"row_id_attribute":[],"url":null,"file_id":null,"format":"arff","original_data_url":[],"md5_checksum":null}`;

const lifetimes = "public, max-age=600, stale-while-revalidate=3600, stale-if-error=604800";
const kept = {
  "cache-control": lifetimes,
  vary: "Accept-Encoding, Authorization, X-API-Key",
  "cache-groups": '"dataset/61", "dataset"',
};
const from = (version: 1 | 2, status: string, age: number | null = null) => ({
  status: 200,
  body: record(version),
  headers: { ...kept, age: age === null ? null : String(age / 1000), "cache-status": `catalog-gateway; ${status}` },
});
const failed = (detail: string) => ({
  status: 502,
  body: JSON.stringify({ detail }),
  headers: {
    "cache-control": "no-store",
    vary: `Accept, ${kept.vary}`,
    "cache-groups": null,
    age: null,
    "cache-status": "catalog-gateway; fwd=uri-miss",
  },
});

const fresh = from(1, "hit; ttl=300", 5 * minute);
const stale = from(1, "hit; ttl=-1800; detail=stale-while-revalidate", 40 * minute);
const onError = from(1, "fwd=stale; ttl=-258600; detail=stale-if-error", 3 * day);
const noAnswer = failed("The legacy interface answered with something that is no answer.");

// 10 minutes fresh, then an hour stale while revalidated, 7 days stale if error. Last: the version that is cached then.
test.each<[legacy: "healthy" | "erroring" | "down", age: number, answer: object, kept: 1 | 2 | undefined]>([
  ["healthy", 5 * minute, fresh, 1],
  ["erroring", 5 * minute, fresh, 1],
  ["down", 5 * minute, fresh, 1],
  ["healthy", 40 * minute, stale, 2],
  ["erroring", 40 * minute, stale, 1],
  ["down", 40 * minute, stale, 1],
  ["healthy", 3 * day, from(2, "fwd=stale; stored; ttl=600"), 2],
  ["erroring", 3 * day, onError, 1],
  ["down", 3 * day, onError, 1],
  ["healthy", 8 * day, from(2, "fwd=uri-miss; stored; ttl=600"), 2],
  ["erroring", 8 * day, noAnswer, undefined],
  ["down", 8 * day, failed("The legacy interface broke off its answer."), undefined],
])("legacy %s, an entry %i ms old: the exact answer, and what is cached then", async (mode, age, wanted, version) => {
  const { pass } = clock();
  const { legacy, ask } = await cachedGateway();
  expect((await ask("/v1/datasets/61")).body).toBe(record(1));
  pass(age);
  legacy.version = 2;
  legacy.mode = mode;

  const { status, body, headers } = await ask("/v1/datasets/61");
  const names = ["cache-control", "vary", "cache-groups", "age", "cache-status"];
  const found = Object.fromEntries(names.map((name) => [name, headers.get(name)]));
  expect({ status, body, headers: found }).toEqual(wanted);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
  expect(headers.get("etag") === null).toBe(status !== 200);

  // A refresh in the background comes to its end.
  await settled();
  // While legacy fails, only the cache can answer.
  const after = await ask("/v1/datasets/61", mode === "healthy" ? { "Cache-Control": "only-if-cached" } : {});
  expect(after.status === 200 ? after.body : undefined).toBe(version && record(version));
});
