import fc from "fast-check";
import { expect, test } from "vitest";
import { scrubAgent, scrubTarget, showSegments } from "../../../src/operation/secrets/scrub.ts";

const KEY = "0123456789abcdef0123456789abcdef";

test.each([
  ["/v1/datasets/61", "/v1/datasets/61"],
  ["/v1/data/list/limit/5?x=1&y=a%20b", "/v1/data/list/limit/5?x&y"],
  ["/v1/data/list/data_name/a%20b/", "/v1/data/list/data_name/(...)/"],
  ["/?api_key=abc", "/?api_key"],
  ["/?API%5FKEY=abc&a", "/?(...)&a"],
  ["/data/api_key/abc/61", "/data/api_key/abc/61"],
  [`/data/${KEY}`, "/data/(...)"],
  [`/data/${KEY.slice(0, 16)}/${KEY.slice(0, 15)}`, "/data/(...)/0123456789abcde"],
  [`/data/${KEY.replace("0", "%30")}?${KEY}`, "/data/(...)?(...)"],
  ["/?mail=a@b.example", "/?mail"],
  ["//a@b.example//x", "//(...)//x"],
  [`/${"a-".repeat(32)}/${"a-".repeat(33)}`, `/${"a-".repeat(32)}/(...)`],
  [`/cookie:${";ab%3Dc".repeat(115)}`, "/(...)"],
  ["*", "(...)"],
  ["", ""],
])("%s is logged as %s", (target, shown) => {
  expect(scrubTarget(target)).toBe(shown);
});

test("a long word of a route is shown", () => {
  expect(scrubTarget("/v1/wordofaroutethatislong")).toBe("/v1/(...)");
  showSegments(["GET /v1/wordofaroutethatislong/{id}"]);
  expect(scrubTarget("/v1/wordofaroutethatislong/list")).toBe("/v1/wordofaroutethatislong/list");
  expect(scrubTarget("/v1/wordofaroutethatislong/list", ["aroute"])).toBe("/v1/(...)/list");
});

test.each([
  ["openml-python/0.15 (linux; x64)", "openml-python/0.15 (linux; x64)"],
  ["lib/1 key=abc, token = def", "lib/1 key=(...), token = (...)"],
  [`lib/${KEY}`, "lib/(...)"],
  ["lib/1 someone@b.example", "lib/1 (...)"],
])("the agent %s is logged as %s", (agent, shown) => {
  expect(scrubAgent(agent)).toBe(shown);
});

test("a caller's key is removed anywhere, of any length and case, with delimiters", () => {
  expect(scrubTarget("/v1/ABC1/xabc1y?q=abc1&abc1=1", ["abc1"])).toBe("/v1/(...)/(...)?q&(...)");
  expect(scrubTarget("/v1/a/b", ["a/B"])).toBe("(...)");
  expect(scrubAgent("lib/1 (abc1; x)", ["abc1"])).toBe("lib/1 ((...); x)");
  expect(scrubAgent("lib/1 (abc; 1)", ["abc; 1"])).toBe("(...)");
});

const piece = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.stringMatching(/^[A-Za-z0-9]{14,33}$/),
  fc.constantFrom("/", "?", "&", "=", "%", "cookie:", ";ab%3Dc", "api_key=", ";", " ", "(...)", "..."),
);
const target = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
const keys = fc.array(
  fc.string({ minLength: 1, maxLength: 40 }).filter((key) => !"(...)".includes(key)),
  { maxLength: 2 },
);

test.each([
  ["target", scrubTarget],
  ["agent", scrubAgent],
])("a scrubbed %s has no key and no long run, and is no longer than before", (_, scrub) => {
  fc.assert(
    fc.property(target, keys, (text, given) => {
      const shown = scrub(text, given);
      expect(scrub(shown, given)).toBe(shown);
      expect(shown).not.toMatch(/[A-Za-z0-9]{16}/);
      for (const key of given) expect(shown.toLowerCase()).not.toContain(key.toLowerCase());
      expect(shown.length).toBeLessThanOrEqual(5 * (text.length + 1));
    }),
  );
});
