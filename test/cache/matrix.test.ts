import { describe, expect, test } from "vitest";
import { cachedGateway, clock } from "./support.ts";
import { settled } from "../support/waiting.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Cached entries by their age: 10 minutes fresh, then an hour stale-while-revalidate, 7 days stale-if-error. */
const contents = {
  fresh: 5 * minute,
  "stale while revalidated": 40 * minute,
  "stale if error": 3 * day,
  none: 8 * day,
};
const legacies = ["healthy", "erroring", "down"] as const;

const record = (version: number) =>
  `{"id":61,"visibility":null,"status":null,"name":"nobody ${version}","licence":null,"version":null,"version_label":null,"language":null,"creator":[],"contributor":[],"citation":null,"paper_url":null,"upload_date":null,"processing_date":null,"error":null,"warning":null,"collection_date":null,"description":null,"description_version":null,"tag":[],"default_target_attribute":[],"ignore_attribute":[],"row_id_attribute":[],"url":null,"file_id":null,"format":"arff","original_data_url":[],"md5_checksum":null}`;

const windows = "public, max-age=600, stale-while-revalidate=3600, stale-if-error=604800";
const kept = {
  "cache-control": windows,
  vary: "Accept-Encoding, Authorization, X-API-Key",
  "cache-groups": '"dataset/61", "dataset"',
};
const old = (age: number, status: string) => ({
  status: 200,
  body: record(1),
  headers: { ...kept, age: String(age / 1000), "cache-status": status },
});
const anew = (status: string) => ({
  status: 200,
  body: record(2),
  headers: { ...kept, age: null, "cache-status": status },
});
const failed = (fwd: string, detail = "The legacy interface answered with something that is no answer.") => ({
  status: 502,
  body: JSON.stringify({ detail }),
  headers: {
    "cache-control": "no-store",
    vary: `Accept, ${kept.vary}`,
    "cache-groups": null,
    age: null,
    "cache-status": `catalog-gateway; fwd=${fwd}`,
  },
});
const broken = "The legacy interface broke off its answer.";

const hit = "catalog-gateway; hit; ttl=300";
const revalidating = "catalog-gateway; hit; ttl=-1800; detail=stale-while-revalidate";
const onError = "catalog-gateway; fwd=stale; ttl=-258600; detail=stale-if-error";

/** The client's answer, and the version that is cached afterwards. */
const table: Record<keyof typeof contents, Record<(typeof legacies)[number], [object, kept: 1 | 2 | undefined]>> = {
  fresh: {
    healthy: [old(contents.fresh, hit), 1],
    erroring: [old(contents.fresh, hit), 1],
    down: [old(contents.fresh, hit), 1],
  },
  "stale while revalidated": {
    healthy: [old(40 * minute, revalidating), 2],
    erroring: [old(40 * minute, revalidating), 1],
    down: [old(40 * minute, revalidating), 1],
  },
  "stale if error": {
    healthy: [anew("catalog-gateway; fwd=stale; stored; ttl=600"), 2],
    erroring: [old(3 * day, onError), 1],
    down: [old(3 * day, onError), 1],
  },
  none: {
    healthy: [anew("catalog-gateway; fwd=uri-miss; stored; ttl=600"), 2],
    erroring: [failed("uri-miss"), undefined],
    down: [failed("uri-miss", broken), undefined],
  },
};

describe.each(legacies)("legacy %s", (mode) => {
  test.each(Object.keys(contents) as (keyof typeof contents)[])(
    "content %s: the exact answer, and what is kept then",
    async (content) => {
      const { pass } = clock();
      const { legacy, ask } = await cachedGateway();
      expect((await ask("/v1/datasets/61")).body).toBe(record(1));
      pass(contents[content]);
      legacy.version = 2;
      legacy.mode = mode;

      const { status, body, headers } = await ask("/v1/datasets/61");
      const [wanted, version] = table[content][mode];
      const results = Object.fromEntries(
        ["cache-control", "vary", "cache-groups", "age", "cache-status"].map((name) => [name, headers.get(name)]),
      );
      expect({ status, body, headers: results }).toEqual(wanted);
      expect(headers.get("content-type")).toBe("application/json");
      expect(headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
      expect(headers.get("etag") === null).toBe(status !== 200);

      // A refresh in the background comes to its end.
      await settled();
      // While legacy fails, only the cache can answer.
      const after = await ask("/v1/datasets/61", mode === "healthy" ? { "Cache-Control": "only-if-cached" } : {});
      expect(after.status === 200 ? after.body : undefined).toBe(version && record(version));
    },
  );
});
