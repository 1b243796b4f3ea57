import { parseJson } from "../../src/catalogue/index.ts";
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { FoundDifference } from "./collectDifferences.ts";
import { UNSERVED } from "./difference.ts";

/** An entry, as it stands in the file; docs/tools.md explains its members. */
const entrySchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "lower-case letters, digits and hyphens"),
  endpoint: z.string().min(1),
  path: z
    .string()
    .refine((path) => path.split("/", 1)[0] !== UNSERVED, "an answer that would not be served is never expected"),
  kind: z.enum(["status", "missing", "extra", "type", "value", "order", "moved", "*"]).default("*"),
  candidate: z.union([z.string().max(400), z.number(), z.boolean(), z.null()]).optional(),
  reason: z.string().min(1),
  link: z
    .url({ protocol: /^https?$/, error: "a link begins with https:// or http://" })
    .max(500)
    .optional(),
  owner: z.string().min(1),
  until: z.iso.date(),
});

/** An expected difference: its place, its reason, its owner, and its end. */
export type LedgerEntry = z.infer<typeof entrySchema>;

/** The content of a ledger's file. */
export const ledgerSchema = z
  .array(entrySchema)
  .refine((entries) => new Set(entries.map(({ id }) => id)).size === entries.length, "each id once");

/** The expected differences, and the search for the entry that allows a difference. */
export type Ledger = ReturnType<typeof openLedger>;

/** Opens a ledger; entries that ended before `today` (`2026-11-21`) allow no difference. */
export const openLedger = (entries: readonly LedgerEntry[], today: string) => {
  const rules = entries
    .filter(({ until }) => until >= today)
    .map((entry) => ({ entry, path: pathPattern(entry.path) }));
  return {
    entries,
    /**
     * The entry that allows this difference, if there is one. An entry with a value allows only differences with that
     * value.
     */
    allowing: (
      endpoint: string,
      { path, form, candidate }: Pick<FoundDifference, "path" | "form" | "candidate">,
    ): LedgerEntry | undefined =>
      rules.find(
        ({ entry, path: pattern }) =>
          (entry.endpoint === "*" || entry.endpoint === endpoint) &&
          (entry.kind === "*" || entry.kind === form) &&
          (entry.candidate === undefined || entry.candidate === candidate) &&
          pattern.test(path),
      )?.entry,
    expired: entries.filter(({ until }) => until < today),
  };
};

/** `/detail/**` -> `/detail` and all below it. A `*` stands for itself: paths use it for the entries of lists. */
const pathPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split("/**")
      .map((part) => RegExp.escape(part))
      .join("(?:/.*)?")}$`,
  );

/** The name of the public reference implementation's ledger. */
export const REFERENCE = "reference";

/** Reads the text of a ledger's file. */
export const readLedger = (content: string): { value: LedgerEntry[] } | { errors: string[] } => {
  const json = parseJson(content);
  if (json === undefined) return { errors: ["it is not valid JSON"] };
  const parsed = ledgerSchema.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  return { errors: parsed.error.issues.map(({ path, message }) => `at /${path.join("/")}: ${message}`) };
};

/** The entries of the ledger that a setting names. `reference`: the file of the reference's ledger. */
export const ledgerOf = (named: LedgerEntry[] | typeof REFERENCE | undefined, reference: string): LedgerEntry[] =>
  named === REFERENCE ? ledgerSchema.parse(JSON.parse(readFileSync(reference, "utf8"))) : (named ?? []);
