import fc from "fast-check";
import { expect, test } from "vitest";
import { curlsOf } from "../../../libraries/compare/curls.ts";
import { openSecrets } from "../../../libraries/secrets/secrets.ts";

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
      for (const form of [key, key.toLowerCase(), key.toUpperCase()]) {
        expect(text(before + form + after).toLowerCase()).not.toContain(key.toLowerCase());
        expect(JSON.stringify(json({ tag: [before + form + after] })).toLowerCase()).not.toContain(key.toLowerCase());
      }
    }),
  );
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
