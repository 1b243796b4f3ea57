import { LRUCache } from "lru-cache";
import { monotonic } from "../../cache/monotonic.ts";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { adminProbe, probeStatuses } from "./datasets.ts";
import type { AskLegacy } from "./readRow.ts";

/** What legacy says of a key. `refused`: it does not know the key. `unknown`: no answer in time, or one that does not say. */
export type AdminStatus = "administrator" | "other" | "refused" | "unknown";

/** A caller with a key. `owner`: the salted hash of the key. `ask` asks legacy with it. */
export type KeyedCaller = { owner: string; ask: AskLegacy };

/** Who is an administrator. */
export type AdminStatuses = {
  /** What is remembered. */
  known: (owner: string) => AdminStatus | undefined;
  /** Waits `patience` milliseconds at most; a later answer is remembered for the next request. */
  of: (caller: KeyedCaller, patience: number) => Promise<AdminStatus>;
  /** Forgets a key that legacy has refused, and an answer about it that is on its way. */
  forget: (owner: string) => void;
};

/** Milliseconds for which an answer holds, from the moment at which legacy was asked. */
const TTL = 60_000;
const MAX_OWNERS = 10_000;

/** Asks legacy whether callers are administrators: one request for each key and minute. */
export const openAdminStatuses = (maxOwners = MAX_OWNERS): AdminStatuses => {
  const known = new LRUCache<string, AdminStatus>({ max: maxOwners, ttl: TTL, perf: monotonic });
  const flights = new Map<string, Promise<AdminStatus>>();

  const launch = ({ owner, ask }: KeyedCaller): Promise<AdminStatus> => {
    const start = monotonic.now();
    const flight = ask(adminProbe).then((answer) => {
      const isWanted = flights.get(owner) === flight;
      if (isWanted) flights.delete(owner);
      if (!answer.ok) return answer.kind === "refused" ? "refused" : "unknown";
      if (answer.document !== undefined) return "unknown";
      const status = probeStatuses[answer.code] ?? "unknown";
      if (isWanted) known.set(owner, status, { start });
      return status;
    });
    flights.set(owner, flight);
    return flight;
  };

  return {
    known: (owner) => known.get(owner),
    forget(owner) {
      known.delete(owner);
      flights.delete(owner);
    },
    async of(caller, patience) {
      const { owner } = caller;
      const remembered = known.get(owner);
      if (remembered !== undefined) return remembered;
      const status = await withTimeout(flights.get(owner) ?? launch(caller), patience);
      return status === "late" ? "unknown" : status;
    },
  };
};
