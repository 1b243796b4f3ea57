import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../compare/report.ts";
import { htmlReport } from "./report/htmlReport.ts";
import { jsonReport } from "./report/jsonReport.ts";
import { junitReport } from "./report/junitReport.ts";
import { markdownReport } from "./report/markdownReport.ts";

const files: Record<string, (report: Report) => string> = {
  "report.html": htmlReport,
  "report.json": jsonReport,
  "junit.xml": junitReport,
  "summary.md": markdownReport,
};

/** Writes the report in each of its forms; gives their paths. */
export const writeReports = (report: Report, directory: string, scrub: (text: string) => string): string[] => {
  mkdirSync(directory, { recursive: true });
  return Object.entries(files).map(([name, written]) => {
    const path = join(directory, name);
    writeFileSync(path, scrub(written(report)));
    return path;
  });
};
