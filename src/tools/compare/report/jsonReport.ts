import type { Report } from "../../../compare/report.ts";

/** The report for other programs: everything but the exhibits, in an order of keys that does not change. */
export const jsonReport = (report: Report): string => {
  const { summary, endpoints, causes, failures, coverage, schemaDrift, skipped, made, sides } = report;
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
  const reported = { summary, endpoints, differences, causes, failures, coverage, schemaDrift, skipped, made, sides };
  return `${JSON.stringify(reported, null, 2)}\n`;
};
