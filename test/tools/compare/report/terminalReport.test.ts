import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { terminalReport } from "../../../../src/tools/compare/report/terminalReport.ts";
import { arbitraryReport } from "./arbitraryReport.ts";
import { sampleReport } from "./sampleReport.ts";

test("it has the verdict, the endpoints, the causes, and commands for the unexplained", () => {
  const lines = terminalReport(sampleReport(), 120, false);
  expect(lines.slice(0, 5)).toEqual([
    "4 of 1,204 answers differ without a reason; 2 could not be compared",
    "legacy https://legacy.example and candidate https://candidate.example, 2026-11-21 07:36 UTC",
    "",
    "endpoint                  compared  equal  explained  expected  drift  unexplained  failed",
    "getDataset                     512      0        504         6      0            2       2",
  ]);
  expect(lines.find((line) => line.startsWith("integer "))).toMatch(
    /^integer +✓ explained +4,650 +296  listDatasets, getSetup, getDataset$/,
  );
  expect(lines).toContain("getDataset      41 ms / 180 ms         3 ms / 10 ms  200 → 200: 500, 404 → 404: 12");
  expect(lines).toContain("legacy: no answer within 10 s        2  getDataset");
  expect(lines.at(-1)).toBe(`curl -s 'https://candidate.example/v1/studies/100' -H "X-API-Key: $CANDIDATE_KEY"`);
});

test("a narrow terminal gets signs for heads, and texts cut", () => {
  const lines = terminalReport(sampleReport(), 70, false);
  expect(lines[3]).toBe("endpoint                    all    =    ✓   §   ≈  ?  ×");
  const widths = lines.filter((line) => !line.startsWith("curl ")).map(({ length }) => length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(70);
});

test("colours change nothing but the colour", () => {
  const plain = terminalReport(sampleReport(), 100, false);
  const coloured = terminalReport(sampleReport(), 100, true);
  expect(coloured).not.toEqual(plain);
  expect(coloured.map(stripVTControlCharacters)).toEqual(plain);
});

test("no value of a report can drive the terminal or break its line", () => {
  fc.assert(
    fc.property(arbitraryReport, fc.integer({ min: 20, max: 200 }), (report, width) => {
      for (const line of terminalReport(report, width, false)) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
    }),
  );
});
