import type { Report, ReportedDifference, Summary } from "./report.ts";
import { formatPath, resultNames } from "../../../libraries/compare/results.ts";
import { buildXml } from "../../../src/catalogue/index.ts";
import { counted, formatNumber } from "../../../libraries/ui/wording.ts";
import { commandsOf, formatSummary, formatValues } from "./reportWording.ts";

/** The report for a CI: a suite for each endpoint, and a case for each path and form that differs without a reason. */
export const junitReport = (report: Report): string => {
  const named = [...report.differences, ...report.failures].map(({ endpoint }) => endpoint);
  const suites = [...new Set([...Object.keys(report.endpoints), ...named])].map((endpoint) =>
    suiteOf(endpoint, report),
  );
  const total = (key: "@tests" | "@failures" | "@errors") => suites.reduce((sum, suite) => sum + suite[key], 0);
  return buildXml({
    testsuites: {
      "@name": formatSummary(report.summary),
      "@tests": total("@tests"),
      "@failures": total("@failures"),
      "@errors": total("@errors"),
      "@time": secondsOf(report),
      testsuite: suites,
    },
  });
};

const suiteOf = (endpoint: string, report: Report) => {
  const { endpoints, differences, failures, made } = report;
  const summary = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
  const time = secondsOf(report, endpoint);
  const caseOf = (name: string, outcome: object) => ({ "@classname": endpoint, "@name": name, ...outcome });
  const counts = summary ? [caseOf("compared", { "@time": time, "system-out": formatCounts(summary) })] : [];
  const unexplained = differences.filter((one) => one.endpoint === endpoint && one.kind === "unexplained");
  const differing = Map.groupBy(unexplained, ({ path, form }) => JSON.stringify([path, form]));
  const failed = [...differing.values()].map((alike) => {
    const { path, form } = alike[0] as ReportedDifference;
    const answers = alike.reduce((sum, one) => sum + one.answers, 0);
    const message = `${form} at ${formatPath(path)} in ${counted(answers, "answer")}`;
    const text = alike.map(formatEvidence).join("\n\n");
    return caseOf(`${formatPath(path)}: ${form}`, { failure: { "@message": message, "@type": form, "#text": text } });
  });
  const errors = failures
    .filter((one) => one.endpoint === endpoint)
    .map(({ kind, why, count, curl }) => {
      const message = `${why} (${counted(count, "answer")})`;
      const error = { "@message": message, "@type": kind, "#text": commandsOf(curl).join("\n") };
      return caseOf(`answers: ${why}`, { error });
    });
  const testcase = [...counts, ...failed, ...errors];
  return {
    "@name": endpoint,
    "@tests": testcase.length,
    "@failures": failed.length,
    "@errors": errors.length,
    "@time": time,
    "@timestamp": made,
    testcase,
  };
};

/** The time that both sides took together, for one endpoint or for all. */
const secondsOf = ({ latency }: Report, endpoint?: string): string => {
  const own = latency.filter((one) => endpoint === undefined || one.endpoint === endpoint);
  return (own.reduce((sum, { total }) => sum + total, 0) / 1000).toFixed(3);
};

const formatEvidence = (difference: ReportedDifference): string =>
  [
    ...(difference.cause === undefined ? [] : [`cause      ${difference.cause}`]),
    ...(difference.rule === undefined ? [] : [`rule       ${difference.rule}`]),
    ...formatValues(difference, 2000).map(({ side, text }) => `${side.padEnd(10)} ${text}`),
    ...commandsOf(difference.curl),
  ].join("\n");

const formatCounts = (summary: Summary): string =>
  [
    `compared: ${formatNumber(summary.compared)}`,
    ...resultNames.map((name) => `${name}: ${formatNumber(summary[name])}`),
  ].join("\n");
