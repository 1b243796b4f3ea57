import { type Answered, groupList } from "../cache/reply.ts";
import type { Caller } from "../legacy/client.ts";
import type { Decision } from "../features/migration/decide.ts";
import { askLegacy } from "./byLegacy.ts";
import { writeByModern } from "./byModern.ts";
import type { Services } from "./services.ts";
import { uncached } from "./uncached.ts";
import type { PlannedRequest } from "./plan.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import { UNSETTLED } from "./unconfirmedWrites.ts";
import { refusedAccess } from "./writeAccess.ts";

/**
 * Carries out a write by one who may write. What it may have touched is served no more when its answer goes out; where nobody knows what came of
 * it, only where legacy fails. A write that was refused, or cannot have been sent, changes nothing.
 */
export const write = async (
  services: Services,
  endpoint: PreparedEndpoint,
  plan: PlannedRequest,
  caller: Caller,
  { backend }: Decision,
): Promise<Answered> => {
  // Modern looks itself.
  const refusal = backend === "modern" ? undefined : await refusedAccess(services, endpoint, plan.input, caller);
  if (refusal) return uncached(refusal, "method");
  const groups = endpoint.writes?.(plan.input) ?? [];
  const { answer, unanswered } =
    backend === "modern"
      ? await writeByModern(services, endpoint, plan.input, caller)
      : await askLegacy(services, endpoint, plan, caller);
  const answered = uncached(answer, "method");
  // Otherwise anybody could empty the cache.
  if (unanswered === "refused" || answer.status === 401 || answer.status === 403) return answered;
  const outdate = (isLost: boolean): Promise<void> | undefined => {
    services.privateRows?.feed.touched(groups, isLost);
    return services.cache.invalidate({ groups, ...(isLost ? { soft: true, hold: UNSETTLED } : {}) });
  };
  await (unanswered === "unknown" ? services.unconfirmed.note(caller.key, () => outdate(true)) : outdate(false));
  return answer.status === 200 ? { ...answered, headers: ["Cache-Group-Invalidation", groupList(groups)] } : answered;
};
