import { LRUCache } from "lru-cache";
import { monotonic } from "../../cache/store.ts";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { type AskLegacy, isAdministrators, type LegacyFailure } from "./askLegacy.ts";

/** The status of a key. `refused`: legacy does not know it. `unknown`: no answer in time, or one without a known code. */
type AdminStatus = "administrator" | "other" | "refused" | "unknown";

/** A caller with a key. `owner`: the salted hash of the key. `ask` asks legacy with it. */
type KeyedCaller = { owner: string; ask: AskLegacy };

/** The cached statuses of callers. */
export type AdminStatuses = ReturnType<typeof openAdminStatuses>;

/** Milliseconds for which a status is valid, from when the probe was sent. */
const TTL = 60_000;
const MAX_OWNERS = 10_000;

/** Asks legacy whether callers are administrators: one request for each key and minute. */
export const openAdminStatuses = () => {
  const statuses = new LRUCache<string, Promise<AdminStatus>>({ max: MAX_OWNERS, ttl: TTL, perf: monotonic });
  const launch = ({ owner, ask }: KeyedCaller): Promise<AdminStatus> => {
    const status = isAdministrators(ask).then(
      (isOne) => (isOne ? "administrator" : "other"),
      ({ isRefused }: LegacyFailure) => {
        // Not cached: the next request probes again.
        if (statuses.peek(owner) === status) statuses.delete(owner);
        return isRefused ? "refused" : "unknown";
      },
    );
    statuses.set(owner, status);
    return status;
  };
  return {
    /** Waits `patience` milliseconds at most. A later answer is cached for the next request. */
    async of(caller: KeyedCaller, patience: number): Promise<AdminStatus> {
      const status = await withTimeout(statuses.get(caller.owner) ?? launch(caller), patience);
      return status === "late" ? "unknown" : status;
    },
    /** Removes the status of a key that legacy has refused, and ignores a pending probe of it. */
    remove: (owner: string): void => void statuses.delete(owner),
  };
};
