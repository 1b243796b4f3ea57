import { answerOf, type Outcome } from "../../catalogue/index.ts";
import { idOfKey, withTimeout } from "../../operation/index.ts";
import { withoutClient } from "../upstream/legacyClient.ts";
import type { AnswerFunctions } from "./answerFunctions.ts";
import type { Core } from "./core.ts";

/**
 * Milliseconds that a request to modern waits until legacy has verified a key that it accepted within the last hour.
 */
const RECHECK_MS = 2000;

const unverified: Outcome = { kind: "unavailable", message: "The legacy interface could not be asked about the key." };
const timedOut: Outcome = { kind: "tooSlow", message: "The legacy interface took too long to answer." };

/** Makes `authorize` of the core. */
export const openAuthorize =
  ({ keys, totalTimeout }: Pick<Core, "keys" | "totalTimeout">): AnswerFunctions["authorize"] =>
  async (caller, byModern = false) => {
    const { key, endpoint, deadline } = caller;
    if (key === undefined) return undefined;
    const wasAccepted = byModern && keys.wasAccepted(idOfKey(key));
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
