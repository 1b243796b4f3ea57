import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "./report.ts";
import { htmlReport } from "./htmlReport.ts";
import { junitReport } from "./junitReport.ts";
import { markdownReport } from "./markdownReport.ts";

/** The report for other programs: everything but the examples. */
const jsonReport = ({ examples: _examples, ...report }: Report): string => `${JSON.stringify(report, null, 2)}\n`;

const files: Record<string, (report: Report) => string> = {
  "report.html": htmlReport,
  "report.json": jsonReport,
  "junit.xml": junitReport,
  "summary.md": markdownReport,
};

/** Writes the report in all formats into a folder that exists, and gives the paths. */
export const writeReports = (report: Report, folder: string, scrub: (text: string) => string): string[] =>
  Object.entries(files).map(([name, written]) => {
    const path = join(folder, name);
    writeFileSync(path, scrub(written(report)));
    return path;
  });
