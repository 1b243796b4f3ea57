import type { Cause, Report, Summary } from "../../../compare/report.ts";
import { type ResultName, resultNames, comparisonResults } from "../../../compare/results.ts";
import { truncate } from "../../../scrub/truncate.ts";
import { duration, minute, formatNumber } from "../../../ui/wording.ts";
import { columns, type Paint, painted, plainText } from "./columns.ts";
import { formatSides, formatSummary } from "./reportWording.ts";

/** The report for a terminal, at most `width` wide. Only commands, which people copy, and numbers may be wider. */
export const terminalReport = (report: Report, width: number, colour: boolean): string[] => {
  const paint = painted(colour);
  const line = (text: string) => truncate(plainText(text), width);
  const { unexplained, failed } = report.summary;
  return [
    paint(unexplained > 0 ? "unexplained" : failed > 0 ? "failed" : "explained", line(formatSummary(report.summary))),
    paint("quiet", line(`${formatSides(report)}, ${minute(report.made)}`)),
    "",
    ...endpointsTable(report, width, paint),
    ...(report.statuses.length > 0 ? ["", ...answersTable(report, width, paint)] : []),
    ...(report.causes.length > 0 ? ["", ...causesTable(report.causes, width, paint)] : []),
    ...(report.failures.length > 0 ? ["", ...failuresTable(report, width, paint)] : []),
    ...report.causes.filter(({ kind }) => kind === "unexplained").flatMap((cause) => commands(cause, width, paint)),
  ];
};

const endpointsTable = ({ endpoints, summary }: Report, width: number, paint: Paint): string[] => {
  const counts = (of: Summary) => [of.compared, ...resultNames.map((name) => of[name])].map(formatNumber);
  const rows = [...Object.entries(endpoints).map(([name, of]) => [name, ...counts(of)]), ["all", ...counts(summary)]];
  const inColumn = (cell: string, column: number, line: number) => {
    const result = resultNames[column - 2];
    if (line === 0 || result === undefined) return line === 0 ? paint("quiet", cell) : cell;
    return cell.trim() === "0" ? paint("quiet", cell) : paint(result, cell);
  };
  return columns({
    heads: [
      ["endpoint", "compared", ...resultNames],
      ["endpoint", "all", ...resultNames.map((name) => comparisonResults[name].sign)],
    ],
    rows,
    right: [1, 2, 3, 4, 5, 6, 7],
    width,
    paint: inColumn,
  });
};

/** The statuses of each endpoint, `legacy or expected → ours or candidate`, and how long each side took. */
const answersTable = ({ endpoints, statuses, latency }: Report, width: number, paint: Paint): string[] => {
  const latencyOf = (endpoint: string, side: "legacy" | "candidate") => {
    const found = latency.find((one) => one.endpoint === endpoint && one.side === side);
    return found ? `${duration(found.p50)} / ${duration(found.p95)}` : "–";
  };
  const rows = Object.keys(endpoints).flatMap((endpoint) => {
    const own = statuses.filter((pair) => pair.endpoint === endpoint);
    const pairs = own.map(({ from, to, answers }) => `${from} → ${to}: ${formatNumber(answers)}`);
    return own.length === 0
      ? []
      : [[endpoint, latencyOf(endpoint, "legacy"), latencyOf(endpoint, "candidate"), pairs.join(", ")]];
  });
  return columns({
    heads: [["endpoint", "legacy p50 / p95", "candidate p50 / p95", "statuses"]],
    rows,
    right: [1, 2],
    width,
    paint: (cell, _, line) => (line === 0 ? paint("quiet", cell) : cell),
  });
};

const causesTable = (causes: readonly Cause[], width: number, paint: Paint): string[] =>
  columns({
    heads: [["cause", "", "fields", "answers", "in"]],
    rows: causes.map(({ kind, name, fields, answers, endpoints }) => [
      name,
      `${comparisonResults[kind].sign} ${kind}`,
      formatNumber(fields),
      formatNumber(answers),
      endpoints.join(", "),
    ]),
    right: [2, 3],
    width,
    paint: (cell, column, line) => {
      const kind: ResultName | undefined = causes[line - 1]?.kind;
      return kind === undefined ? paint("quiet", cell) : column === 1 ? paint(kind, cell) : cell;
    },
  });

const failuresTable = ({ failures }: Report, width: number, paint: Paint): string[] =>
  columns({
    heads: [["not compared", "answers", "in"]],
    rows: failures.map(({ why, count, endpoint }) => [why, formatNumber(count), endpoint]),
    right: [1],
    width,
    paint: (cell, _, line) => (line === 0 ? paint("quiet", cell) : cell),
  });

const commands = ({ name, endpoints, curl }: Cause, width: number, paint: Paint): string[] => [
  "",
  paint(
    "unexplained",
    truncate(plainText(`${comparisonResults.unexplained.sign} ${name} (${endpoints.join(", ")})`), width),
  ),
  ...[curl.legacy, curl.candidate].filter((command) => command !== undefined).map((command) => plainText(command)),
];
