import { parseAnswer } from "../compare/answers.ts";
import type { LedgerEntry } from "../compare/ledger.ts";
import type { GivenAnswer } from "../compare/answers.ts";
import { UNSERVED } from "../compare/difference.ts";
import { judgeAnswer } from "../compare/judge.ts";
import { counted } from "../ui/wording.ts";
import { canonicalRequest } from "../endpoint/canonicalRequest.ts";
import { exampleTarget } from "../endpoint/exampleTarget.ts";
import type { Catalogue, Gateway } from "./gateway.ts";
import { readInput } from "../endpoint/input.ts";
import type { Services } from "./services.ts";
import { whyUnserved } from "../modern/whyUnserved.ts";

const today = (): string => new Date().toISOString().slice(0, 10);

/** The finding for each example, and the ids of the ledger entries that allowed a difference. */
export type CheckedExamples = { rows: [name: string, { ok: boolean; found: string }][]; fired: ReadonlySet<string> };

/** Sends every example to both sides, and says how modern's answer differs from the expected one. */
export const compareExamples = async (
  app: Gateway["app"],
  { modern, migration, errors, totalTimeout }: Services,
  catalogue: Catalogue,
  base: string,
): Promise<CheckedExamples> => {
  const fired = new Set<string>();
  const ledger = migration.ledger();
  const rows: CheckedExamples["rows"] = [];
  for (const [name, endpoint] of Object.entries(catalogue.endpoints))
    for (const [example, given] of Object.entries(endpoint.examples)) {
      const target = endpoint.writes ? undefined : exampleTarget(endpoint, given);
      const read = readInput(
        endpoint.input,
        Object.entries(given).map(([field, json]) => ({ name: field, loc: [field], json })),
        "body",
      );
      if (target === undefined || modern === undefined || !("input" in read)) continue;
      const response = await app.request(base + target, { headers: { "Cache-Control": "no-cache" } });
      const expected = parseAnswer(response.status, "application/json", await response.text());
      const said = await modern.client.look(canonicalRequest(endpoint, read.input, modern.routes[name]), {
        headers: [],
        deadline: Date.now() + totalTimeout,
      });
      if ("failed" in said) {
        rows.push([`modern ${name} ${example}`, { ok: false, found: said.failed }]);
        continue;
      }
      const about = {
        endpoint: name,
        output: endpoint.output,
        ledger,
        whyUnserved: (one: GivenAnswer) => whyUnserved({ ...endpoint, name }, { errors, ledger }, one),
      };
      const differences = judgeAnswer(about, expected, parseAnswer(said.status, said.contentType, said.text));
      for (const { entry } of differences) if (entry !== undefined) fired.add(entry);
      const unexplained = differences
        .filter(({ kind }) => kind === "unexplained")
        .map(({ path, form, cause, candidate }) =>
          path === UNSERVED
            ? [cause, typeof candidate === "string" ? `(${candidate})` : ""].join(" ")
            : `${form} at ${path === "" ? "the whole answer" : path}`,
        );
      const found =
        unexplained.length > 0
          ? unexplained.join(", ")
          : `as expected${differences.length > 0 ? ` (${counted(differences.length, "difference")} allowed)` : ""}`;
      rows.push([`modern ${name} ${example}`, { ok: unexplained.length === 0, found }]);
    }
  return { rows, fired };
};

/** The ledger entries that have ended, and those that no compared example needed. Endpoints that write are not compared. */
export const ledgerNotes = (
  { migration }: Services,
  { endpoints }: Catalogue,
  fired: ReadonlySet<string>,
): { ended: LedgerEntry[]; idle: LedgerEntry[] } => {
  const day = today();
  const entries = migration.expected();
  const isWritten = ({ endpoint }: LedgerEntry) => endpoints[endpoint]?.writes !== undefined;
  return {
    ended: entries.filter(({ until }) => until < day),
    idle: migration.hasModern
      ? entries.filter((entry) => entry.until >= day && !isWritten(entry) && !fired.has(entry.id))
      : [],
  };
};
