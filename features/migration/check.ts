import { canonicalRequest, exampleTarget } from "../../libraries/compare/canonicalRequest.ts";
import { parseAnswer } from "../../libraries/compare/answers.ts";
import { UNSERVED } from "../../libraries/compare/difference.ts";
import { formatPath } from "../../libraries/compare/results.ts";
import { type Endpoint, type Json, readInput } from "../../src/catalogue/index.ts";
import { compareSides } from "../../libraries/modern/compareSides.ts";
import type { CheckReport } from "../../libraries/check/checkReport.ts";
import type { Core } from "../../src/gateway/index.ts";
import { counted } from "../../libraries/ui/wording.ts";
import type { Modern } from "./modern.ts";
import type { Migration } from "./migration.ts";
import type { Stage } from "./stage.ts";

type ComparedExample = { ok: boolean; found: string; fired: readonly string[]; isOfGateway?: boolean };

const ADVICE = "fix the new implementation, or add what is meant to differ to EXPECTED_DIFFERENCES";

type CheckedCore = Pick<Core, "catalogue" | "errors" | "totalTimeout">;

/**
 * If there is a modern side, compares every example that reads on both sides. A difference fails if modern answers
 * callers, or with `--strict`; else it is a note. Reports entries of the ledger that no comparison needed. `stages`:
 * those of the configuration.
 */
export const checkMigration = async (
  core: CheckedCore,
  migration: Migration,
  modern: Modern | undefined,
  stages: Readonly<Record<string, Stage>>,
  report: CheckReport,
): Promise<void> => {
  const fired = new Set<string>();
  let isOfGateway = false;
  if (modern)
    for (const [name, examples] of report.examples)
      for (const [example, input] of Object.entries(examples)) {
        const endpoint = { ...(core.catalogue.endpoints[name] as Endpoint), name };
        const compared = await compareExample(core, migration, modern, endpoint, input, report);
        if (compared === undefined) continue;
        for (const entry of compared.fired) fired.add(entry);
        isOfGateway ||= compared.isOfGateway === true;
        const isServed = stages[name]?.stage === "canary" || stages[name]?.stage === "modern";
        const row = `modern ${name} ${example}`;
        if (compared.ok || isServed || report.strict) report.row(compared.ok, row, compared.found, ADVICE);
        else report.note(row, compared.found);
      }
  if (isOfGateway) report.note("MODERN_URL", "another gateway answers there: is this the address of modern itself?");
  checkLedger(migration, fired, report);
};

/** Compares one example; `undefined` if it takes a POST or is not valid input. */
const compareExample = async (
  { errors, totalTimeout }: CheckedCore,
  migration: Migration,
  modern: Modern,
  endpoint: Endpoint & { name: string },
  input: Record<string, Json>,
  report: CheckReport,
): Promise<ComparedExample | undefined> => {
  const { name } = endpoint;
  const target = endpoint.writes ? undefined : exampleTarget(endpoint, input);
  const fields = Object.entries(input).map(([field, json]) => ({ name: field, loc: [field], json }));
  const read = readInput(endpoint.input, fields, "body");
  if (target === undefined || !("input" in read)) return undefined;
  const response = await report.ask(target);
  const expected = parseAnswer(response.status, "application/json", await response.text());
  const reply = await modern.client.look(canonicalRequest(endpoint, read.input, modern.routes[name]), {
    headers: [],
    deadline: performance.now() + totalTimeout,
  });
  if ("failed" in reply) return { ok: false, found: reply.failed, fired: [] };
  const compared = { endpoint, input: read.input, errors, ledger: migration.comparisons.ledger.today() };
  const differences = compareSides(compared, expected, parseAnswer(reply.status, reply.contentType, reply.text));
  const fired = differences.flatMap(({ entry }) => entry ?? []);
  const unexplained = differences
    .filter(({ kind }) => kind === "unexplained")
    .map(({ path, form, cause, candidate }) =>
      path === UNSERVED
        ? [cause, typeof candidate === "string" ? `(${candidate})` : ""].join(" ")
        : `${form} at ${formatPath(path)}`,
    );
  const { isOfGateway } = reply;
  if (unexplained.length > 0) return { ok: false, found: unexplained.join(", "), fired, isOfGateway };
  const allowed = differences.length > 0 ? ` (${counted(differences.length, "difference")} allowed)` : "";
  return { ok: true, found: `as expected${allowed}`, fired, isOfGateway };
};

/**
 * Reports entries of the ledger that have ended, and those that no comparison needed. Entries for writes are skipped:
 * writes are not compared.
 */
const checkLedger = (migration: Migration, fired: ReadonlySet<string>, { strict, row, note }: CheckReport): void => {
  const name = "EXPECTED_DIFFERENCES";
  const today = new Date().toISOString().slice(0, 10);
  const entries = migration.comparisons.ledger.entries();
  for (const { id, until } of entries.filter((entry) => entry.until < today)) {
    const found = `${id}: it ended on ${until}`;
    if (strict) row(false, name, found);
    else note(name, found);
  }
  if (!migration.hasModern) return;
  const idle = entries.filter(
    (entry) => entry.until >= today && migration.isRead(entry.endpoint) && !fired.has(entry.id),
  );
  if (strict) for (const { id } of idle) row(false, name, `${id}: it allows nothing that has been seen`);
  else if (idle.length > 0) note(name, `${idle.length} entries allow nothing that has been seen (--strict names them)`);
};
