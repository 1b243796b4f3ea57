import { LRUCache } from "lru-cache";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { monotonic } from "../../cache/monotonic.ts";
import type { ErrorTable } from "../../legacy/reading.ts";
import type { PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";
import { type AskLegacy, hear } from "./look.ts";

/**
 * What legacy says of a caller's key. `refused`: it does not know the key. `unknown`: it gave no answer in time, or one that says
 * nothing of the key.
 */
export type AdminStatus = "administrator" | "other" | "refused" | "unknown";

/** One caller with a key. */
export type KeyedCaller = {
  /** A salted hash of the key. */
  owner: string;
  /** Asks legacy with this key. */
  ask: AskLegacy;
};

export type AdminStatuses = {
  /** What is remembered. */
  known: (owner: string) => AdminStatus | undefined;
  /** Waits for at most `patience` milliseconds; an answer that comes later is remembered for the next request. */
  of: (caller: KeyedCaller, patience: number) => Promise<AdminStatus>;
  /** Legacy has refused this key. An answer that is on its way does not count either. */
  forget: (owner: string) => void;
};

/** What belongs to a key holds for at most so many milliseconds, counted from the question to legacy. */
const MINUTE = 60_000;
const MAX_OWNERS = 10_000;

/** Asks legacy whether callers are administrators: one request for each key and minute. */
export const openAdminStatuses = (
  { adminProbe }: Pick<PrivateRowsKnowledge, "adminProbe">,
  errors: ErrorTable,
  maxOwners = MAX_OWNERS,
): AdminStatuses => {
  const known = new LRUCache<string, AdminStatus>({ max: maxOwners, ttl: MINUTE, perf: monotonic });
  const inFlight = new Map<string, Promise<AdminStatus>>();

  const launch = ({ owner, ask }: KeyedCaller): Promise<AdminStatus> => {
    const start = monotonic.now();
    const flight = hear(ask, adminProbe.request, errors).then((heard) => {
      // Unless the key was refused meanwhile.
      const isWanted = inFlight.get(owner) === flight;
      if (isWanted) inFlight.delete(owner);
      if ("refused" in heard) return "refused";
      if (!("code" in heard)) return "unknown";
      const status = adminProbe.statuses[heard.code] ?? "unknown";
      if (isWanted) known.set(owner, status, { start });
      return status;
    });
    inFlight.set(owner, flight);
    return flight;
  };

  return {
    known: (owner) => known.get(owner),
    forget(owner) {
      known.delete(owner);
      inFlight.delete(owner);
    },
    async of(caller, patience) {
      const { owner } = caller;
      const remembered = known.get(owner);
      if (remembered !== undefined) return remembered;
      const status = await withTimeout(inFlight.get(owner) ?? launch(caller), patience);
      return status === "late" ? "unknown" : status;
    },
  };
};
