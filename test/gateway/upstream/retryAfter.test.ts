import { expect, test } from "vitest";
import { retryAfterOf } from "../../../src/gateway/upstream/retryAfter.ts";

const now = Date.parse("2026-11-26T12:00:00.400Z");

test.each([
  ["0", 1],
  ["120", 120],
  ["3600", 3600],
  ["3601", 3600],
  ["9".repeat(400), 3600],
  ["Thu, 26 Nov 2026 12:02:00 GMT", 120],
  ["Thursday, 26-Nov-26 12:02:00 GMT", 120],
  ["Thu, 26 Nov 2026 14:00:00 GMT", 3600],
  ["Thu, 26 Nov 2026 11:00:00 GMT", 1],
  ["Thu, 99 Nov 2026 11:00:00 GMT", 5],
  [undefined, 5],
  ["", 5],
  ["-1", 5],
  ["1.5", 5],
  ["120, 60", 5],
  ["soon", 5],
])("Retry-After: %s means %i seconds", (text, seconds) => {
  expect(retryAfterOf(text, now)).toBe(seconds);
});
