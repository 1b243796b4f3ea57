import { expect, test } from "vitest";
import { entrySchema } from "../../src/compare/ledger.ts";

const entry = { id: "known", endpoint: "getDataset", path: "/name", reason: "known", owner: "us", until: "2999-01-01" };

test.each<[string, unknown, boolean]>([
  ["candidate", [[]], false],
  ["candidate", {}, false],
  ["candidate", "", true],
  ["candidate", null, true],
  ["path", "served", false],
  ["link", "javascript:alert(1)", false],
  ["link", "JaVaScRiPt:alert(1)", false],
  ["link", "data:text/html,x", false],
  ["link", "//evil.example", false],
  ["link", "ftp://x.example", false],
  ["link", "issue 12", false],
  ["link", "", false],
  ["link", "https://issues.example/12", true],
  ["link", "http://issues.example/12", true],
])("an entry with the %s %j: %s", (name, value, isAllowed) => {
  expect(entrySchema.safeParse({ ...entry, [name]: value }).success).toBe(isAllowed);
});
