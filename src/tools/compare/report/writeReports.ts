import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../../compare/report.ts";
import { htmlReport } from "./htmlReport.ts";
import { junitReport } from "./junitReport.ts";
import { markdownReport } from "./markdownReport.ts";

/** The report for other programs: everything but the examples, in a fixed order of keys. */
export const jsonReport = (report: Report): string => {
  const { summary, endpoints, statuses, latency, causes, failures, coverage, schemaDrift, skipped, made, sides } =
    report;
  const differences = report.differences.map(
    ({ endpoint, path, kind, form, rule, cause, entry, legacy, expected, candidate, count, answers, curl }) => ({
      endpoint,
      path,
      kind,
      form,
      rule,
      cause,
      entry,
      legacy,
      expected,
      candidate,
      count,
      answers,
      curl,
    }),
  );
  const reported = {
    summary,
    endpoints,
    statuses,
    latency,
    differences,
    causes,
    failures,
    coverage,
    schemaDrift,
    skipped,
    made,
    sides,
  };
  return `${JSON.stringify(reported, null, 2)}\n`;
};

const files: Record<string, (report: Report) => string> = {
  "report.html": htmlReport,
  "report.json": jsonReport,
  "junit.xml": junitReport,
  "summary.md": markdownReport,
};

/** Writes the report in all formats, and gives the paths. */
export const writeReports = (report: Report, directory: string, scrub: (text: string) => string): string[] => {
  mkdirSync(directory, { recursive: true });
  return Object.entries(files).map(([name, written]) => {
    const path = join(directory, name);
    writeFileSync(path, scrub(written(report)));
    return path;
  });
};
