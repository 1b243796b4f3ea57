import { styleText } from "node:util";
import type { Report, Summary } from "./report.ts";
import { commandsOf } from "../../../libraries/compare/curls.ts";
import { comparisonResults, resultNames } from "../../../libraries/compare/results.ts";
import { truncate } from "../../../src/operation/index.ts";
import { plainText } from "../../plainText.ts";
import { formatNumber, minute } from "../../../libraries/ui/wording.ts";
import { formatSides, formatSummary } from "./reportWording.ts";

/** The report for a terminal, at most `width` wide. Only commands, which people copy, may be wider. */
export const terminalReport = (report: Report, width: number, colour: boolean): string[] => {
  const { summary, endpoints, causes, failures, skipped, made } = report;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const line = (text: string) => truncate(plainText(text), width);
  const counts = (row: Summary) => [row.compared, ...resultNames.map((name) => row[name])].map(formatNumber);
  const section = (head: string[], rows: string[][]) => {
    const [first = "", ...others] = columns([head, ...rows]).map(line);
    return rows.length === 0 ? [] : ["", style("dim", first), ...others];
  };
  const signs = resultNames.map((name) => comparisonResults[name].sign);
  return [
    style(
      summary.unexplained + summary.unreadable + summary.failed > 0 ? ["bold", "red"] : "green",
      line(formatSummary(summary)),
    ),
    style("dim", line(`${formatSides(report)}, ${minute(made)}`)),
    ...section(
      ["endpoint", "all", ...signs],
      [...Object.entries(endpoints).map(([name, row]) => [name, ...counts(row)]), ["all", ...counts(summary)]],
    ),
    style("dim", line(resultNames.map((name, i) => `${signs[i]} ${name}`).join("  "))),
    ...section(
      ["kind", "fields", "answers", "cause"],
      causes.map(({ kind, fields, answers, name, endpoints: within }) => [
        `${comparisonResults[kind].sign} ${kind}`,
        formatNumber(fields),
        formatNumber(answers),
        `${name} in ${within.join(", ")}`,
      ]),
    ),
    ...section(
      ["endpoint", "answers", "not compared"],
      failures.map(({ why, count, endpoint }) => [endpoint, formatNumber(count), why]),
    ),
    ...section(
      ["lines", "left out"],
      Object.entries(skipped).map(([reason, lines]) => [formatNumber(lines), reason]),
    ),
    ...causes
      .filter(({ kind }) => kind === "unexplained")
      .flatMap(({ name, curl }) => [
        "",
        style("red", line(`${comparisonResults.unexplained.sign} ${name}`)),
        ...commandsOf(curl).map(plainText),
      ]),
  ];
};

/** A table; columns of numbers are aligned on the right. */
const columns = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((cells) => cells[i]?.length ?? 0)));
  const isNumber = widths.map((_, i) => rows.slice(1).every((cells) => /^[\d,]+$/.test(cells[i] ?? "")));
  const padded = (cell: string, i: number) =>
    isNumber[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0);
  return rows.map((cells) => cells.map(padded).join("  ").trimEnd());
};
