import type { Difference } from "../../libraries/compare/difference.ts";
import { type Ledger, type LedgerEntry, openLedger } from "../../libraries/compare/ledger.ts";

/** Opens the ledger of expected differences of a gateway that runs for days, and may get a new ledger meanwhile. */
export const openLedgerInForce = (first: readonly LedgerEntry[]) => {
  let entries = first;
  let today: { day: string; ledger: Ledger } | undefined;
  const fired = new Set<string>();
  return {
    /** All entries, also those that have ended. */
    entries: () => entries,
    /** The entries that are in force today: each ends with a day. */
    today(): Ledger {
      const day = new Date().toISOString().slice(0, 10);
      if (today?.day !== day) today = { day, ledger: openLedger(entries, day) };
      return today.ledger;
    },
    replace(next: readonly LedgerEntry[]): void {
      entries = next;
      today = undefined;
    },
    /** Notes which entries have allowed one of these differences. */
    note(differences: readonly Difference[]): void {
      for (const { entry } of differences) if (entry !== undefined) fired.add(entry);
    },
    /** The ids of entries that have allowed a difference since the start. */
    fired: (): ReadonlySet<string> => fired,
  };
};
