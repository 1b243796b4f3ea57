import type { Cause, CurlPair, Report, ReportedDifference, Summary } from "../../../compare/report.ts";
import { code, fenced, row, table } from "./markdown.ts";
import { formatValues } from "./shownValues.ts";
import { resultNames, comparisonResults, formatPath } from "../../../compare/results.ts";
import { formatSides, formatSummary } from "./verdict.ts";
import { counted, truncate, minute, formatNumber } from "../../../ui/wording.ts";

/** GitHub takes comments of 65,536 characters; the rest is room for what a bot adds. */
const MAX_CHARS = 60_000;
const MAX_UNEXPLAINED = 20;
const MAX_CAUSES = 10;
const MAX_ENDPOINTS = 60;

/** The report for a pull request: what needs a look first, and always short enough to be posted. */
export const markdownReport = (report: Report): string => {
  const head = [
    `## ${formatSummary(report.summary)}`,
    `${code(truncate(formatSides(report), 300))}, ${code(minute(truncate(report.made, 40)))}`,
    endpointsTable(report),
  ];
  const blocks = [...head, ...unexplained(report.differences), ...causes(report.causes)];
  let room = MAX_CHARS;
  const kept = blocks.filter((block) => (room -= block.length + 2) >= 0);
  const left = blocks.length - kept.length;
  return `${[...kept, ...(left > 0 ? ["… cut here to fit; the whole is in the report's page"] : [])].join("\n\n")}\n`;
};

const heads = resultNames.map((name) => `${comparisonResults[name].sign} ${name}`);

const endpointsTable = ({ endpoints, summary }: Report): string => {
  const counts = (of: Summary) => [of.compared, ...resultNames.map((name) => of[name])].map(formatNumber);
  const all = Object.entries(endpoints);
  const rows = all.slice(0, MAX_ENDPOINTS).map(([name, of]) => [code(truncate(name, 60)), ...counts(of)]);
  const more = all.length > rows.length ? [[`and ${formatNumber(all.length - rows.length)} more`]] : [];
  return table(["endpoint", "compared", ...heads], [...rows, ...more, ["**all**", ...counts(summary)]]);
};

const unexplained = (differences: readonly ReportedDifference[]): string[] => {
  const all = differences.filter(({ kind }) => kind === "unexplained");
  if (all.length === 0) return [];
  const shown = all.slice(0, MAX_UNEXPLAINED);
  const more = all.length > shown.length ? [`… and ${formatNumber(all.length - shown.length)} more`] : [];
  return [`### Unexplained`, ...shown.map(unexplainedDifference), ...more];
};

const unexplainedDifference = (difference: ReportedDifference): string => {
  const { endpoint, path, form, rule, answers, curl } = difference;
  const where = `${form} at ${code(truncate(formatPath(path), 120))}`;
  const by = rule === undefined ? "" : `, made by ${code(truncate(rule, 60))}`;
  return [
    `**${where}** in ${code(truncate(endpoint, 60))}, ${counted(answers, "answer")}${by}`,
    "",
    ...formatValues(difference, 160).map(({ side, text }) => `- ${side}: ${code(text)}`),
    "",
    curls(curl),
  ].join("\n");
};

const curls = ({ legacy, candidate }: CurlPair): string =>
  [
    "<details><summary>curl</summary>",
    "",
    fenced("sh", [...(legacy === undefined ? [] : [truncate(legacy, 600)]), truncate(candidate, 600)].join("\n")),
    "",
    "</details>",
  ].join("\n");

const causes = (all: readonly Cause[]): string[] => {
  if (all.length === 0) return [];
  const rows = all
    .slice(0, MAX_CAUSES)
    .map(({ kind, name, fields, answers, endpoints }) => [
      `${comparisonResults[kind].sign} ${kind}`,
      code(truncate(name, 80)),
      formatNumber(fields),
      formatNumber(answers),
      code(truncate(endpoints.join(", "), 120)),
    ]);
  const more = all.length > rows.length ? [row([`and ${formatNumber(all.length - rows.length)} more`])] : [];
  return ["### Causes", [table(["kind", "cause", "fields", "answers", "in"], rows), ...more].join("\n")];
};
