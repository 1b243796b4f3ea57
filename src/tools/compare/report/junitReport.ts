import { XMLBuilder } from "fast-xml-parser";
import type { CurlPair, Report, ReportedDifference, Summary } from "../../../compare/report.ts";
import { formatPath, resultNames } from "../../../compare/results.ts";
import { counted, formatNumber } from "../../../ui/wording.ts";
import { formatSummary, formatValues } from "./reportWording.ts";

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
      testsuite: suites,
    },
  });
};

const suiteOf = (endpoint: string, { endpoints, differences, failures, made }: Report) => {
  const summary = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
  const caseOf = (name: string, outcome: object) => ({ "@classname": endpoint, "@name": name, "@time": 0, ...outcome });
  const counts = summary ? [caseOf("compared", { "system-out": formatCounts(summary) })] : [];
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
    .map(({ why, count, curl }) => {
      const message = `${why} (${counted(count, "answer")})`;
      const error = { "@message": message, "@type": "failed", "#text": formatCommands(curl) };
      return caseOf(`answers: ${why}`, { error });
    });
  const testcase = [...counts, ...failed, ...errors];
  return {
    "@name": endpoint,
    "@tests": testcase.length,
    "@failures": failed.length,
    "@errors": errors.length,
    "@timestamp": made,
    testcase,
  };
};

const formatEvidence = (difference: ReportedDifference): string =>
  [
    ...(difference.rule === undefined ? [] : [`rule       ${difference.rule}`]),
    ...formatValues(difference, 2000).map(({ side, text }) => `${side.padEnd(10)} ${text}`),
    formatCommands(difference.curl),
  ].join("\n");

const formatCommands = ({ legacy, candidate }: CurlPair): string =>
  [legacy, candidate].filter((command) => command !== undefined).join("\n");

const formatCounts = (summary: Summary): string =>
  [
    `compared: ${formatNumber(summary.compared)}`,
    ...resultNames.map((name) => `${name}: ${formatNumber(summary[name])}`),
  ].join("\n");

/** A document in XML 1.0; `@name` is an attribute, `#text` the text beside attributes. Characters that no XML can hold become U+FFFD. */
export const buildXml = (document: Record<string, object>): string =>
  builder.build({ "?xml": { "@version": "1.0", "@encoding": "UTF-8" }, ...document });

const escapeXml = (value: unknown, reserved: RegExp): string =>
  String(value)
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex -- these are what XML 1.0 leaves out (its production 2)
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD")
    .replaceAll(reserved, (character) => entities[character] ?? `&#${character.charCodeAt(0)};`);

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  format: true,
  suppressEmptyNode: true,
  // XML readers turn raw tabs and line breaks of attributes into blanks, and raw carriage returns of texts into line breaks.
  processEntities: false,
  attributeValueProcessor: (_, value) => escapeXml(value, /[&<>\t\n\r]/g),
  tagValueProcessor: (_, value) => escapeXml(value, /[&<>\r]/g),
});
