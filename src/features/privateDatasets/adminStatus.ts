import { LRUCache } from "lru-cache";
import { monotonic } from "../../cache/store.ts";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { adminProbe, probeStatuses } from "./datasets.ts";
import type { AskLegacy } from "./readRow.ts";

/** What legacy says of a key. `refused`: it does not know the key. `unknown`: no answer in time, or one that does not say. */
export type AdminStatus = "administrator" | "other" | "refused" | "unknown";

/** A caller with a key. `owner`: the salted hash of the key. `ask` asks legacy with it. */
export type KeyedCaller = { owner: string; ask: AskLegacy };

/** Who is an administrator. */
export type AdminStatuses = ReturnType<typeof openAdminStatuses>;

type Probe = { status?: AdminStatus; answer: Promise<AdminStatus> };

/** Milliseconds for which an answer holds, from the moment at which legacy was asked. */
const TTL = 60_000;
const MAX_OWNERS = 10_000;

/** Asks legacy whether callers are administrators: one request for each key and minute. */
export const openAdminStatuses = (maxOwners = MAX_OWNERS) => {
  const probes = new LRUCache<string, Probe>({ max: maxOwners, ttl: TTL, perf: monotonic });
  const launch = ({ owner, ask }: KeyedCaller): Probe => {
    const read = async (): Promise<AdminStatus> => {
      const answer = await ask(adminProbe);
      if (answer.ok && answer.document === undefined) return (probe.status = probeStatuses[answer.code] ?? "unknown");
      // It does not hold for the next request.
      if (probes.peek(owner) === probe) probes.delete(owner);
      return !answer.ok && answer.kind === "refused" ? "refused" : "unknown";
    };
    const probe: Probe = { answer: read() };
    probes.set(owner, probe);
    return probe;
  };
  return {
    /** What is remembered. */
    known: (owner: string): AdminStatus | undefined => probes.get(owner)?.status,
    /** Waits `patience` milliseconds at most; a later answer is remembered for the next request. */
    async of(caller: KeyedCaller, patience: number): Promise<AdminStatus> {
      const { status, answer } = probes.get(caller.owner) ?? launch(caller);
      if (status !== undefined) return status;
      const answered = await withTimeout(answer, patience);
      return answered === "late" ? "unknown" : answered;
    },
    /** Forgets a key that legacy has refused, and an answer about it that is on its way. */
    forget: (owner: string): void => void probes.delete(owner),
  };
};
