import { readFileSync } from "node:fs";
import { type LedgerEntry, ledgerSchema } from "./ledger.ts";

/** The entries in a file; or what is wrong with it, under the name of the setting that named it. */
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
