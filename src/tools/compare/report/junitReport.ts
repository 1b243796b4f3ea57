import type { CurlPair, Report, ReportedDifference, Summary } from "../../../compare/report.ts";
import { formatSummary, formatValues } from "./shownValues.ts";
import { resultNames, formatPath } from "../../../compare/results.ts";
import { counted, formatNumber } from "../../../ui/wording.ts";
import { type Element, xml } from "./xml.ts";

/** The report for a CI: a suite for each endpoint, a case for each path and form that differs without a reason. */
export const junitReport = (report: Report): string => {
  const named = [...report.differences, ...report.failures].map(({ endpoint }) => endpoint);
  const suites = [...new Set([...Object.keys(report.endpoints), ...named])].map((endpoint) => suite(endpoint, report));
  const total = (key: string) => String(suites.reduce((sum, { attributes }) => sum + Number(attributes?.[key]), 0));
  return xml({
    name: "testsuites",
    attributes: {
      name: formatSummary(report.summary),
      tests: total("tests"),
      failures: total("failures"),
      errors: total("errors"),
    },
    children: suites,
  });
};

const suite = (endpoint: string, { endpoints, differences, failures, made }: Report): Element => {
  const summary = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
  const counts = summary ? [testcase(endpoint, "compared", { name: "system-out", text: countsOf(summary) })] : [];
  const differing = Object.values(
    Object.groupBy(
      differences.filter((one) => one.endpoint === endpoint && one.kind === "unexplained"),
      ({ path, form }) => JSON.stringify([path, form]),
    ),
  ).map((alike = []) => failure(endpoint, alike));
  const errors = failures
    .filter((one) => one.endpoint === endpoint)
    .map(({ why, count, curl }) =>
      testcase(endpoint, `answers: ${why}`, {
        name: "error",
        attributes: { message: `${why} (${counted(count, "answer")})`, type: "failed" },
        text: commands(curl),
      }),
    );
  const children = [...counts, ...differing, ...errors];
  return {
    name: "testsuite",
    attributes: {
      name: endpoint,
      tests: String(children.length),
      failures: String(differing.length),
      errors: String(errors.length),
      timestamp: made,
    },
    children,
  };
};

const testcase = (classname: string, name: string, outcome: Element): Element => ({
  name: "testcase",
  attributes: { classname, name, time: "0" },
  children: [outcome],
});

const failure = (endpoint: string, alike: readonly ReportedDifference[]): Element => {
  const [first] = alike as [ReportedDifference];
  const answers = alike.reduce((sum, one) => sum + one.answers, 0);
  return testcase(endpoint, `${formatPath(first.path)}: ${first.form}`, {
    name: "failure",
    attributes: {
      message: `${first.form} at ${formatPath(first.path)} in ${counted(answers, "answer")}`,
      type: first.form,
    },
    text: alike.map(evidence).join("\n\n"),
  });
};

const evidence = (difference: ReportedDifference): string =>
  [
    ...(difference.rule === undefined ? [] : [`rule       ${difference.rule}`]),
    ...formatValues(difference, 2000).map(({ side, text }) => `${side.padEnd(10)} ${text}`),
    commands(difference.curl),
  ].join("\n");

const commands = ({ legacy, candidate }: CurlPair): string =>
  [legacy, candidate].filter((command) => command !== undefined).join("\n");

const countsOf = (summary: Summary): string =>
  [
    `compared: ${formatNumber(summary.compared)}`,
    ...resultNames.map((name) => `${name}: ${formatNumber(summary[name])}`),
  ].join("\n");
