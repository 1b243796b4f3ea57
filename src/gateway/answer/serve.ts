import { type Answer, answerOf, inputErrors, type InputReading } from "../../catalogue/index.ts";
import { readDirectives } from "../cache/cacheRequest.ts";
import { type Decision, type Served, uncached } from "../cache/served.ts";
import type { Handler, Context, Received } from "./context.ts";
import type { Additions } from "./additions.ts";
import type { WholeCore } from "./core.ts";
import { unauthenticated } from "./legacyFetch.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import { callerOf } from "./requestInput.ts";

/**
 * Checks the credential, then the input, then calls the handler: in this order, so that no error says more
 * than the caller may know.
 */
export const serve = async (
  core: WholeCore & Pick<Additions, "decide">,
  handler: Handler,
  endpoint: PreparedEndpoint,
  received: Received,
  reading: InputReading | Answer,
): Promise<Served> => {
  const { header, exchange, caller } = received;
  const { key, refused } = caller.credential;
  const asker = { ...received, ...callerOf(core, received), endpoint };
  const decided = () => core.decide(endpoint.name, asker);
  const refuse = (answer: Answer, { stage }: Decision, reason: "credential" | "input"): Served => ({
    ...uncached(answer),
    decision: { stage, backend: "gateway", reason },
  });
  if (refused || (endpoint.writes !== undefined && key === undefined))
    return refuse(answerOf(unauthenticated), decided(), "credential");
  const asked = askedBy(endpoint, reading);
  if ("rejected" in asked) {
    const decision = decided();
    const refusal = await core.authorize(asker, decision.backend === "modern");
    return refusal ? refuse(refusal, decision, "credential") : refuse(asked.rejected, decision, "input");
  }
  const wanted = readDirectives(header("cache-control"), header("pragma"));
  // The key of a sound request is verified where it is answered: by legacy, which gets it, or before a cached or
  // modern answer is served.
  const served = await handler({ ...asker, ...asked, wanted });
  return exchange.upstreamCalls === 0 ? served : { ...served, upstream: exchange.upstreamMs };
};

const askedBy = (
  endpoint: PreparedEndpoint,
  reading: InputReading | Answer,
): { rejected: Answer } | Pick<Context, "input" | "legacy"> => {
  if ("status" in reading) return { rejected: reading };
  if ("errors" in reading) return { rejected: inputErrors(reading.errors) };
  const { input, possible } = reading;
  const outcome = (!possible && endpoint.notFound) || endpoint.rejectEarly?.(input);
  return outcome ? { rejected: answerOf(outcome) } : { input, legacy: endpoint.legacy(input) };
};
