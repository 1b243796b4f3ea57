import type { CompareOptions } from "./options.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { readIds } from "../corpus/madeRequests.ts";
import { numberFrom, readUrl, severalOf } from "../optionValues.ts";
import type { CommandTools } from "../runCommand.ts";
import { performComparison } from "./comparison.ts";
import { htmlReport } from "./report/htmlReport.ts";
import type { Report } from "./report/report.ts";
import { terminalReport } from "./report/terminalReport.ts";

/** Gives a command the options of `compare`, and its action. */
export const compareCommand = (command: Command, tools: CommandTools): Command =>
  command
    .description(
      "Compares legacy's answers with the gateway's, or a candidate's with those; explains every difference.",
    )
    .option(
      "--legacy <url>",
      "legacy's origin, or with its path (default: LEGACY_URL, else the sample legacy)",
      readUrl,
    )
    .option(
      "--candidate <url>",
      "what serves the new interface at URL/... (default: the gateway's own answers)",
      readUrl,
    )
    .option("--modern", "ask the candidate as the gateway asks modern: on MODERN_ROUTES, with the key in the query")
    .option(
      "--endpoint <name>",
      "only this endpoint; may be given several times",
      severalOf(Object.keys(tools.catalogue.endpoints)),
    )
    .option("--ids <list>", "ids such as 1..9,61, for every endpoint that answers for one", readIds)
    .addOption(
      new Option(
        "--corpus <file>",
        "traffic: an access log, JSON lines (a POST needs request_body) or one URL a line (default: examples of the endpoints)",
      ).conflicts("ids"),
    )
    .option("--limit <n>", "at most n requests: every endpoint, status and shape, the rarest first", numberFrom(1))
    .option("--key <env>", "environment variable with a key, for what was asked with one (examples and ids: for all)")
    .option(
      "--expected <file>",
      "ledger of expected differences: a file, reference, or none (default with --candidate: the gateway's)",
    )
    .option(
      "--rate <n>",
      "requests a second, 0: no limit (default: 10, but 0 for a legacy of this host)",
      numberFrom(0),
    )
    .option("--concurrency <n>", "requests at a time (default: 2, but 8 for a legacy of this host)", numberFrom(1, 256))
    .option("--out <folder>", "where report.html and report.json go", "comparison")
    .addHelpText(
      "after",
      "\nExit code: 0 nothing is unexplained or unreadable, 1 something is, 2 it could not run, or half of the requests got no answer.",
    )
    .action((options: CompareOptions) => compare(options, tools));

const compare = async (options: CompareOptions, tools: CommandTools): Promise<void> => {
  const { report, scrub } = await performComparison(options, tools);
  const { columns, isTTY } = process.stdout;
  const lines = terminalReport(report, isTTY ? columns : 100, isTTY && !tools.environment["NO_COLOR"]);
  for (const line of [...lines, ...writeReports(report, options.out, scrub)]) tools.print(scrub(line));
  const { compared, failed, unreadable, unexplained } = report.summary;
  // A promotion must not pass because a server did not answer.
  const answered = compared + unreadable;
  if (failed >= answered) throw new Error(`${failed} of ${answered + failed} requests could not be compared`);
  tools.exit(unexplained + unreadable > 0 ? 1 : 0);
};

/** The report for other programs: everything except the examples. */
const jsonReport = ({ examples: _examples, ...report }: Report): string => `${JSON.stringify(report, null, 2)}\n`;

const files: Record<string, (report: Report) => string> = {
  "report.html": htmlReport,
  "report.json": jsonReport,
};

/** Writes the report in both formats into an existing folder, and returns the paths. */
const writeReports = (report: Report, folder: string, scrub: (text: string) => string): string[] =>
  Object.entries(files).map(([name, written]) => {
    const path = join(folder, name);
    writeFileSync(path, scrub(written(report)));
    return path;
  });
