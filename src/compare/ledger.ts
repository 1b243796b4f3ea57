import { readFileSync } from "node:fs";
import { z } from "zod";
import type { FoundDifference } from "./collectDifferences.ts";
import { UNSERVED } from "./difference.ts";

/** One entry, as it stands in the file and as operators write it. */
export const entrySchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "lower-case letters, digits and hyphens"),
  endpoint: z.string().min(1).describe("an endpoint's name, or * for all"),
  path: z
    .string()
    .refine((path) => path.split("/", 1)[0] !== UNSERVED, "an answer that would not be served is never expected")
    .describe("as in the report; a step of ** stands for any number of steps"),
  kind: z.enum(["status", "missing", "extra", "type", "value", "order", "moved", "*"]).default("*"),
  candidate: z
    .union([z.string().max(400), z.number(), z.boolean(), z.null()])
    .optional()
    .describe("only where the candidate has exactly this value, such as an empty text"),
  reason: z.string().min(1),
  link: z
    .url({ protocol: /^https?$/, error: "a link begins with https:// or http://" })
    .max(500)
    .optional(),
  owner: z.string().min(1),
  until: z.iso.date().describe("the last day it holds, such as 2027-06-30"),
});

/** One expected difference: where, why, its owner, and until when. */
export type LedgerEntry = z.infer<typeof entrySchema>;

const listOf = <T extends z.ZodType<LedgerEntry>>(entry: T) =>
  z.array(entry).refine((entries) => new Set(entries.map(({ id }) => id)).size === entries.length, "each id once");

/** The ledger, as it stands in the file. */
export const ledgerSchema = listOf(entrySchema);

/** The expected differences. */
export type Ledger = {
  entries: readonly LedgerEntry[];
  /** The entry that allows this difference. An ended entry allows no difference, one with a value only differences with that value. */
  allowing(endpoint: string, found: Pick<FoundDifference, "path" | "form" | "candidate">): LedgerEntry | undefined;
  /** The entries that ended before this day (`2026-11-21`). */
  expired(today: string): LedgerEntry[];
};

/** Opens a ledger; entries that ended before `today` allow no difference. */
export const openLedger = (entries: readonly LedgerEntry[], today: string): Ledger => {
  const rules = entries
    .filter(({ until }) => until >= today)
    .map((entry) => ({ entry, path: pathPattern(entry.path) }));
  return {
    entries,
    allowing: (endpoint, { path, form, candidate }) =>
      rules.find(
        ({ entry, path: pattern }) =>
          (entry.endpoint === "*" || entry.endpoint === endpoint) &&
          (entry.kind === "*" || entry.kind === form) &&
          (entry.candidate === undefined || entry.candidate === candidate) &&
          pattern.test(path),
      )?.entry,
    expired: (day) => entries.filter(({ until }) => until < day),
  };
};

/** `/detail/**` -> `/detail` and all below it. A `*` stands for itself: paths write it for the entries of lists. */
const pathPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split("/**")
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join("(?:/.*)?")}$`,
  );

/** The entries in a file; or its errors, with the name of the setting that names the file. */
export const readLedger = (file: string, setting: string): { entries: LedgerEntry[] } | { errors: string[] } => {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === undefined ? "is not valid JSON" : `cannot be read (${code})`;
    return { errors: [`${setting}: ${file} ${why}; allowed is a JSON list of entries`] };
  }
  const parsed = ledgerSchema.safeParse(json);
  if (parsed.success) return { entries: parsed.data };
  return {
    errors: parsed.error.issues.map(({ path, message }) => `${setting}: ${file}, /${path.join("/")}: ${message}`),
  };
};
