import type { Report, ReportedDifference, Summary } from "./report.ts";
import { comparisonResults, formatPath, resultNames } from "../../../libraries/compare/results.ts";
import { truncate } from "../../../src/operation/index.ts";
import { counted, duration, formatNumber, minute } from "../../../libraries/ui/wording.ts";
import { commandsOf, formatSides, formatSummary, formatValues } from "./reportWording.ts";

/** Characters. GitHub takes comments of 65,536; the rest is room for what a bot adds. */
const MAX_CHARS = 60_000;
const MAX_UNEXPLAINED = 20;
const MAX_ROWS = 60;

/** The report for a pull request: unexplained differences first, then its tables, as many as fit into a comment. */
export const markdownReport = (report: Report): string => {
  const { causes, failures, statuses, latency, coverage, schemaDrift, skipped } = report;
  const blocks = [
    `## ${formatSummary(report.summary)}`,
    `${code(truncate(formatSides(report), 300))}, ${code(minute(truncate(report.made, 40)))}`,
    endpointsTable(report),
    ...unexplained(report.differences),
    ...table(
      "Causes",
      ["kind", "cause", "fields", "answers", "in"],
      causes.map(({ kind, name, fields, answers, endpoints }) => [
        `${comparisonResults[kind].sign} ${kind}`,
        name,
        fields,
        answers,
        endpoints.join(", "),
      ]),
    ),
    ...table(
      "Not compared",
      ["endpoint", "why", "answers"],
      failures.map(({ endpoint, why, count }) => [endpoint, why, count]),
    ),
    ...table(
      "Statuses",
      ["endpoint", report.sides.candidate === undefined ? "legacy → ours" : "expected → candidate", "answers"],
      statuses.map(({ endpoint, from, to, answers }) => [endpoint, `${from} → ${to}`, answers]),
    ),
    ...table(
      "Latency",
      ["endpoint", "side", "p50", "p95"],
      latency.map(({ endpoint, side, p50, p95 }) => [endpoint, side, duration(p50), duration(p95)]),
    ),
    ...table(
      "Schema drift: fields that no rule reads, or in a type that no rule expects",
      ["endpoint", "legacy field", "seen", "examples"],
      schemaDrift.map(({ endpoint, legacyPath, seen, examples }) => [
        endpoint,
        legacyPath,
        Object.keys(seen).join(", "),
        examples.join(", "),
      ]),
    ),
    ...table(
      "Coverage: what these requests never showed",
      ["endpoint", "field", "never seen"],
      coverage
        .filter(({ never, documents }) => never.length > 0 && documents > 0)
        .map(({ endpoint, path, never }) => [endpoint, formatPath(path), never.join(", ")]),
    ),
    ...table("Lines left out", ["reason", "lines"], Object.entries(skipped)),
  ];
  let room = MAX_CHARS;
  const fitting = blocks.filter((block) => (room -= block.length + 2) >= 0);
  const left = blocks.length > fitting.length ? ["… cut here to fit; the whole is in report.json"] : [];
  return `${[...fitting, ...left].join("\n\n")}\n`;
};

const endpointsTable = ({ endpoints, summary }: Report): string => {
  const counts = (one: Summary) => [one.compared, ...resultNames.map((name) => one[name])];
  const heads = resultNames.map((name) => `${comparisonResults[name].sign} ${name}`);
  const rows = Object.entries(endpoints).map(([name, one]) => [name, ...counts(one)]);
  return rowsOf(["endpoint", "compared", ...heads], [["all", ...counts(summary)], ...rows]);
};

const unexplained = (differences: readonly ReportedDifference[]): string[] => {
  const all = differences.filter(({ kind }) => kind === "unexplained");
  if (all.length === 0) return [];
  const shown = all.slice(0, MAX_UNEXPLAINED);
  const more = all.length > shown.length ? [`… and ${formatNumber(all.length - shown.length)} more`] : [];
  return ["### Unexplained", ...shown.map(unexplainedDifference), ...more];
};

const unexplainedDifference = (difference: ReportedDifference): string => {
  const { endpoint, path, form, rule, cause, answers, curl } = difference;
  const where = `${form} at ${code(truncate(formatPath(path), 120))}`;
  const by = rule === undefined ? "" : `, made by ${code(truncate(rule, 60))}`;
  const why = cause === undefined ? "" : `: ${code(truncate(cause, 60))}`;
  return [
    `**${where}** in ${code(truncate(endpoint, 60))}, ${counted(answers, "answer")}${by}${why}`,
    "",
    ...formatValues(difference, 160).map(({ side, text }) => `- ${side}: ${code(text)}`),
    "",
    "<details><summary>curl</summary>",
    "",
    fenced(
      "sh",
      commandsOf(curl)
        .map((command) => truncate(command, 600))
        .join("\n"),
    ),
    "",
    "</details>",
  ].join("\n");
};

type Cells = readonly (string | number)[];

/** A table below its title; empty if it has no rows. */
const table = (title: string, heads: readonly string[], rows: readonly Cells[]): string[] =>
  rows.length === 0 ? [] : [`### ${title}`, rowsOf(heads, rows)];

/** Numbers are aligned on the right; texts are code, and cut if they are long. */
const rowsOf = (heads: readonly string[], rows: readonly Cells[]): string => {
  const aligned = rows[0]?.map((cell) => (typeof cell === "number" ? "--:" : ":--")) ?? [];
  const shown = rows
    .slice(0, MAX_ROWS)
    .map((cells) => cells.map((cell) => (typeof cell === "number" ? formatNumber(cell) : code(truncate(cell, 160)))));
  const more = rows.length > shown.length ? ["", `… and ${formatNumber(rows.length - shown.length)} more`] : [];
  return [...[heads, aligned, ...shown].map((cells) => `| ${cells.join(" | ")} |`), ...more].join("\n");
};

/**
 * Any text as code, within a line or a cell: in backticks where that is safe. A text that could end them, the cell or
 * the line becomes an element whose characters are references. All readers of Markdown understand that alike.
 */
const code = (text: string): string =>
  /^(?! )[^`|\p{Cc}\u2028\u2029]+(?<! )$/u.test(text)
    ? `\`${text}\``
    : `<code>${text.toWellFormed().replaceAll(/[^\w ]/gu, (sign) => `&#${sign.codePointAt(0)};`)}</code>`;

/** A block of code, its fence longer than any run of backticks inside. */
const fenced = (language: string, text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};
