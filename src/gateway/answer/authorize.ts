import { type Answer, answerOf, type Outcome } from "../../catalogue/index.ts";
import { withTimeout } from "../../operation/index.ts";
import { type Caller, withoutClient } from "../upstream/legacyClient.ts";
import type { Core } from "./feature.ts";

/**
 * Milliseconds that a request to modern waits until legacy has verified a key that it accepted within the last hour.
 */
const RECHECK_MS = 2000;

const unverified: Outcome = { kind: "unavailable", message: "The legacy interface could not be asked about the key." };
const timedOut: Outcome = { kind: "tooSlow", message: "The legacy interface took too long to answer." };

/** What is asked of legacy about a key: whether it may write where the endpoint writes. */
type Authorized = Caller & { endpoint: { writes?: unknown } };

/**
 * Verifies the caller's key with legacy, at most once a minute. The result is the refusal; `undefined` lets the caller
 * in. `byModern`: the answer does not need legacy. If legacy cannot be asked then, a key that it accepted within the
 * last hour counts, and another is 503.
 */
export const authorize = async (
  { keys, totalTimeout }: Pick<Core, "keys" | "totalTimeout">,
  caller: Authorized,
  byModern = false,
): Promise<Answer | undefined> => {
  const { key, endpoint, deadline } = caller;
  if (key === undefined) return undefined;
  const wasAccepted = byModern && keys.wasAccepted(keys.ownerOf(key));
  // Other requests may wait for the same verification: it has a deadline of its own, and no request
  // waits past its own deadline.
  const left = Math.min(Math.max(1, deadline - performance.now()), wasAccepted ? RECHECK_MS : Infinity);
  const asked = { ...withoutClient(caller, totalTimeout), key };
  const verified = await withTimeout(keys.verify(asked, endpoint.writes !== undefined), left);
  const refusal = verified === "late" ? timedOut : verified;
  if (refusal === undefined) return undefined;
  const isSaid = refusal.kind === "unauthenticated" || refusal.kind === "forbidden";
  if (!byModern || isSaid) return answerOf(refusal);
  return wasAccepted ? undefined : answerOf(unverified);
};
