import fc from "fast-check";
import { expect, test } from "vitest";
import { scrubAgent, scrubTarget } from "../../src/scrub/requestTarget.ts";

const KEY = "0123456789abcdef0123456789abcdef";

test.each([
  ["/v1/datasets/61", "/v1/datasets/61"],
  ["/v1/data/list/limit/5?x=1&y=a%20b", "/v1/data/list/limit/5?x=1&y=a%20b"],
  ["/?api_key=abc", "/?api_key=(not shown)"],
  ["/?api_key=abc&api_key=def&a=1", "/?api_key=(not shown)&api_key=(not shown)&a=1"],
  ["/?API%5FKEY=abc", "/?API%5FKEY=(not shown)"],
  ["/data/api_key/abc/61", "/data/api_key/(not shown)/61"],
  [`/data/${KEY}`, "/data/(not shown)"],
  [`/data/${KEY.replace("0", "%30")}?a=${KEY.replaceAll("f", "%2566")}`, "/data/(not shown)?a=(not shown)"],
  [`/data/x%${KEY}?a=%25${KEY}`, "/data/(not shown)?a=(not shown)"],
  ["/?q=%7B%22api_key%22%3A%22abc%22%7D", "/?q=(not shown)"],
  ["/?mail=a@b.example", "/?mail=(not shown)"],
  ["/?session_hash=1&PHPSESSID=2", "/?session_hash=(not shown)&PHPSESSID=(not shown)"],
])("%s is logged as %s", (target, shown) => {
  expect(scrubTarget(target)).toBe(shown);
});

test("a short key of the caller goes wherever it stands, in any case and encoding", () => {
  expect(scrubTarget("/v1/abc1/x?q=ABC1&r=%61bc1&s=1", ["abc1"])).toBe(
    "/v1/(not shown)/x?q=(not shown)&r=(not shown)&s=1",
  );
  expect(scrubTarget("/v1/x%abc1", ["abc1"])).toBe("/v1/(not shown)");
  expect(scrubAgent("lib/1 (abc1; x)", ["abc1"])).toBe("lib/1 ((not shown); x)");
});

test("a long target is cut, and a key on the edge leaves no part of it", () => {
  const target = `/${"a/".repeat(992)}${KEY}`;
  const shown = scrubTarget(target);
  expect(shown).toMatch(/^(\/a)+\/\(not shown\)$/);
  expect(scrubTarget("/a".repeat(8000)).length).toBeLessThan(2100);
});

test("scrubbing never throws, and its result is bounded", () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 300 }),
      fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 2 }),
      (text, keys) => {
        const once = scrubTarget(text, keys);
        expect(once.length).toBeLessThanOrEqual(12 * (text.length + 1));
      },
    ),
  );
});
