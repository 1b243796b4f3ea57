import fc from "fast-check";
import { expect, test } from "vitest";
import { curlsOf } from "../../src/compare/curls.ts";
import { openDifferences } from "../../src/features/migration/differences.ts";
import { openSecrets } from "../../src/scrub/secrets.ts";

const alphabet = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
const keyOf = (least: number, most: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: least, maxLength: most });
const addresses = { legacy: "https://legacy.example/api/v1", candidate: "https://new.example", keyName: "KEY" };

test("a key of any length is taken out of texts, whatever its case", () => {
  const other = fc.constantFrom("", "x-", "/", " in words ");
  fc.assert(
    // Zeros stand for a key that was taken out.
    fc.property(keyOf(4, 64), other, other, (key, before, after) => {
      fc.pre(!/^0+$/.test(key) && !"(key)".includes(key.toLowerCase()));
      const { text, json } = openSecrets().ofCaller(key);
      for (const one of [key, key.toLowerCase(), key.toUpperCase()]) {
        expect(text(before + one + after).toLowerCase()).not.toContain(key.toLowerCase());
        expect(JSON.stringify(json({ tag: [before + one + after] })).toLowerCase()).not.toContain(key.toLowerCase());
      }
    }),
  );
});

test("the shortest keys break no sample: its members stay, and it is kept", () => {
  for (const key of ["a", "1", "at", "question", "null", "true", "path", "GET"]) {
    const differences = openDifferences();
    differences.add({
      endpoint: "getDataset",
      question: "GET /datasets/1",
      at: "2026-11-21T00:00:00.000Z",
      key,
      differences: [
        {
          path: "/id",
          at: "/id",
          form: "value",
          kind: "unexplained",
          expected: 12,
          candidate: { at: null, ok: true },
          count: 1,
        },
      ],
      curl: (scrub) => curlsOf(addresses, { method: "GET", path: "/datasets/1" }, true, undefined, scrub),
    });
    const [sample] = differences.view("unexplained")[0]?.samples ?? [];
    expect(Object.keys(sample ?? {}).toSorted()).toEqual(["at", "candidate", "curl", "expected", "question"]);
    expect(sample).toMatchObject({
      expected: 12,
      curl: { candidate: expect.stringContaining('"X-API-Key: $KEY"') as string },
    });
  }
});

test("a command names the caller's key and shows it in no path, body or form", () => {
  fc.assert(
    fc.property(keyOf(16, 64), fc.boolean(), (key, isPost) => {
      fc.pre(!/^0+$/.test(key));
      const request = isPost
        ? ({ method: "POST", path: "/datasets/list", body: { tag: key } } as const)
        : ({ method: "GET", path: `/flow/exists/${encodeURIComponent(`a=${key}`)}/1` } as const);
      const exchange = {
        request: { method: "POST", path: `/tag/${key}`, form: { name: key } },
        format: "json",
      } as const;
      const { legacy = "", candidate } = curlsOf(addresses, request, true, exchange, openSecrets().ofCaller(key));
      expect(`${legacy} ${candidate}`.toLowerCase()).not.toContain(key.toLowerCase());
      expect([legacy.endsWith('"api_key=$KEY"'), candidate.includes('"X-API-Key: $KEY"')]).toEqual([true, true]);
    }),
  );
});
