import type { Cause, CurlPair, Report, ReportedDifference, Summary } from "../../../compare/report.ts";
import { comparisonResults, formatPath, resultNames } from "../../../compare/results.ts";
import { truncate } from "../../../scrub/truncate.ts";
import { counted, formatNumber, minute } from "../../../ui/wording.ts";
import { formatSides, formatSummary, formatValues } from "./reportWording.ts";

/** Characters. GitHub takes comments of 65,536; the rest is room for what a bot adds. */
const MAX_CHARS = 60_000;
const MAX_UNEXPLAINED = 20;
const MAX_CAUSES = 10;
const MAX_ENDPOINTS = 60;

/** The report for a pull request: unexplained differences first, and always short enough for a comment. */
export const markdownReport = (report: Report): string => {
  const head = [
    `## ${formatSummary(report.summary)}`,
    `${code(truncate(formatSides(report), 300))}, ${code(minute(truncate(report.made, 40)))}`,
    endpointsTable(report),
  ];
  const blocks = [...head, ...unexplained(report.differences), ...causes(report.causes)];
  let room = MAX_CHARS;
  const fitting = blocks.filter((block) => (room -= block.length + 2) >= 0);
  const left = blocks.length - fitting.length;
  return `${[...fitting, ...(left > 0 ? ["… cut here to fit; the whole is in the report's page"] : [])].join("\n\n")}\n`;
};

const resultHeads = resultNames.map((name) => `${comparisonResults[name].sign} ${name}`);

const endpointsTable = ({ endpoints, summary }: Report): string => {
  const counts = (of: Summary) => [of.compared, ...resultNames.map((name) => of[name])].map(formatNumber);
  const all = Object.entries(endpoints);
  const rows = all.slice(0, MAX_ENDPOINTS).map(([name, of]) => [code(truncate(name, 60)), ...counts(of)]);
  const more = all.length > rows.length ? [[`and ${formatNumber(all.length - rows.length)} more`]] : [];
  return table(["endpoint", "compared", ...resultHeads], [...rows, ...more, ["**all**", ...counts(summary)]]);
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

/** One line of a table; the cells are Markdown. */
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** A table whose columns of numbers are aligned on the right. */
const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string => {
  const isNumber = heads.map((_, i) => rows.every((cells) => /^[\d,]*$/.test(cells[i] ?? "")));
  return [row(heads), row(isNumber.map((right) => (right ? "--:" : ":--"))), ...rows.map(row)].join("\n");
};

/**
 * Any text as code, within a line or a cell. Backticks where they are safe. A text that could end them, the cell or the line becomes an
 * element whose characters are references, which all readers of Markdown understand alike.
 */
export const code = (text: string): string =>
  /^(?! )[^`|\p{Cc}\u2028\u2029]+(?<! )$/u.test(text)
    ? `\`${text}\``
    : `<code>${text.toWellFormed().replaceAll(/[^\w ]/gu, (sign) => `&#${sign.codePointAt(0)};`)}</code>`;

/** A block of code, its fence longer than any run of backticks inside. */
export const fenced = (language: string, text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};
