import { LRUCache } from "lru-cache";
import { monotonic } from "../../cache/store.ts";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { adminProbe, probeStatuses } from "./datasets.ts";
import type { AskLegacy } from "./askLegacy.ts";

/** The status of a key. `refused`: legacy does not know it. `unknown`: no answer in time, or one without a known code. */
export type AdminStatus = "administrator" | "other" | "refused" | "unknown";

/** A caller with a key. `owner`: the salted hash of the key. `ask` asks legacy with it. */
export type KeyedCaller = { owner: string; ask: AskLegacy };

/** The cached statuses of callers. */
export type AdminStatuses = ReturnType<typeof openAdminStatuses>;

type Probe = { status?: AdminStatus; answer: Promise<AdminStatus> };

/** Milliseconds for which a status is valid, from when the probe was sent. */
const TTL = 60_000;
const MAX_OWNERS = 10_000;

/** Asks legacy whether callers are administrators: one request for each key and minute. */
export const openAdminStatuses = (maxOwners = MAX_OWNERS) => {
  const probes = new LRUCache<string, Probe>({ max: maxOwners, ttl: TTL, perf: monotonic });
  const launch = ({ owner, ask }: KeyedCaller): Probe => {
    const read = async (): Promise<AdminStatus> => {
      const answer = await ask(adminProbe);
      if (answer.ok && answer.document === undefined) return (probe.status = probeStatuses[answer.code] ?? "unknown");
      // Not cached: the next request probes again.
      if (probes.peek(owner) === probe) probes.delete(owner);
      return !answer.ok && answer.kind === "refused" ? "refused" : "unknown";
    };
    const probe: Probe = { answer: read() };
    probes.set(owner, probe);
    return probe;
  };
  return {
    /** Waits `patience` milliseconds at most. A later answer is cached for the next request. */
    async of(caller: KeyedCaller, patience: number): Promise<AdminStatus> {
      const { status, answer } = probes.get(caller.owner) ?? launch(caller);
      if (status !== undefined) return status;
      const answered = await withTimeout(answer, patience);
      return answered === "late" ? "unknown" : answered;
    },
    /** Removes the status of a key that legacy has refused, and ignores a pending probe of it. */
    remove: (owner: string): void => void probes.delete(owner),
  };
};
