import fc from "fast-check";
import { expect, test } from "vitest";
import type { Report } from "../../../../src/compare/report.ts";
import { jsonReport } from "../../../../src/tools/compare/report/writeReports.ts";
import { arbitraryReport } from "./arbitraryReport.ts";
import { sampleReport } from "./sampleReport.ts";

const parsed = (report: Report) => JSON.parse(jsonReport(report)) as Record<string, unknown>;

test("report.json is the whole report without its examples", () => {
  const { examples: _, ...rest } = sampleReport();
  expect(parsed(sampleReport())).toEqual(rest);
  expect(Object.keys(parsed(sampleReport()))).toEqual([
    "summary",
    "endpoints",
    "statuses",
    "latency",
    "differences",
    "causes",
    "failures",
    "coverage",
    "schemaDrift",
    "skipped",
    "made",
    "sides",
  ]);
  expect(jsonReport(sampleReport())).toMatch(/^{\n {2}"summary": {\n {4}"compared": 1204,/);
});

test("any report is read back as it was", () => {
  fc.assert(
    fc.property(arbitraryReport, (report) => {
      const { examples: _, ...rest } = report;
      expect(parsed(report)).toEqual(JSON.parse(JSON.stringify(rest)));
    }),
  );
});
