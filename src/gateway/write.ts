import { type Answered, groupList } from "../cache/reply.ts";
import type { Caller } from "../legacy/client.ts";
import type { Decision } from "../migration/decide.ts";
import { askLegacy } from "./byLegacy.ts";
import { writeByModern } from "./byModern.ts";
import type { Machine } from "./machine.ts";
import { notKept } from "./notKept.ts";
import type { Asking } from "./plan.ts";
import type { Prepared } from "./prepared.ts";
import { UNSETTLED } from "./unconfirmedWrites.ts";
import { refusedAccess } from "./writeAccess.ts";

/**
 * Carries out a write by one who may write. What it may have touched is served no more when its answer goes out; where nobody knows what came of
 * it, only where legacy fails. A write that was refused, or cannot have been sent, changes nothing.
 */
export const write = async (
  machine: Machine,
  endpoint: Prepared,
  plan: Asking,
  caller: Caller,
  { backend }: Decision,
): Promise<Answered> => {
  // Modern looks itself.
  const refusal = backend === "modern" ? undefined : await refusedAccess(machine, endpoint, plan.input, caller);
  if (refusal) return notKept(refusal, "method");
  const groups = endpoint.writes?.(plan.input) ?? [];
  const { answer, unanswered } =
    backend === "modern"
      ? await writeByModern(machine, endpoint, plan.input, caller)
      : await askLegacy(machine, endpoint, plan, caller);
  const answered = notKept(answer, "method");
  // Otherwise anybody could empty the cache.
  if (unanswered === "refused" || answer.status === 401 || answer.status === 403) return answered;
  const outdate = (isLost: boolean): Promise<void> | undefined => {
    machine.privateRows?.feed.touched(groups, isLost);
    return machine.cache.drop({ groups, ...(isLost ? { soft: true, hold: UNSETTLED } : {}) });
  };
  await (unanswered === "unknown" ? machine.unconfirmed.note(caller.key, () => outdate(true)) : outdate(false));
  return answer.status === 200 ? { ...answered, headers: ["Cache-Group-Invalidation", groupList(groups)] } : answered;
};
