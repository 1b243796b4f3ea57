import type { Holding } from "../../operation/limits/byteBudget.ts";
import { withTimeout } from "../../operation/limits/withTimeout.ts";
import { type Answer, answerOf, inputErrors } from "../../catalogue/endpoint/answer.ts";
import type { InputReading } from "../../catalogue/endpoint/input.ts";
import type { Outcome } from "../../catalogue/endpoint/outcome.ts";
import { type Backend, type EndpointRequest, type RequestCaller, type Served, uncached } from "./backend.ts";
import { unauthenticated } from "./legacyFetch.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import type { RequestInput } from "./requestInput.ts";
import type { Services } from "./feature.ts";

/** Milliseconds that a request to modern waits until legacy has verified a key that it accepted within the last hour. */
const RECHECK_MS = 2000;

const unverified: Outcome = { kind: "unavailable", message: "The legacy interface could not be asked about the key." };
const timedOut: Outcome = { kind: "tooSlow", message: "The legacy interface took too long to answer." };

/**
 * Checks the credential, then the input, then asks the backend: in this order, so that no error says more than the caller may know. `holding`
 * takes the bytes of what is fetched.
 */
export const serve = async (
  services: Services,
  backend: Backend,
  endpoint: PreparedEndpoint,
  request: RequestInput,
  holding: Holding,
): Promise<Served> => {
  const { credential, reading, wanted } = request;
  const isWrite = endpoint.writes !== undefined;
  const caller = callerOf(services, request, isWrite, holding);
  /** The gateway answers by itself. */
  const rejected = (answer: Answer, reason: string): Served => {
    const { stage } = services.hooks.decide(endpoint.name, caller);
    return { ...uncached(answer), decision: { stage, backend: "gateway", reason } };
  };
  if (credential.refused || (isWrite && credential.key === undefined))
    return rejected(answerOf(unauthenticated), "credential");
  const read = checkInput(services, endpoint, reading);
  if ("rejected" in read) {
    const { backend: decided } = services.hooks.decide(endpoint.name, caller);
    const refusal = await caller.authorize(decided === "modern");
    return rejected(refusal ?? read.rejected, "input");
  }
  const served = await backend({ ...read, wanted }, caller);
  const { calls, ms } = caller.spent;
  return calls === 0 || isWrite ? served : { ...served, upstream: ms };
};

/** The request that the backend gets, or the answer where the input decides it already. */
const checkInput = (
  { knowledge }: Services,
  endpoint: PreparedEndpoint,
  reading: InputReading | Answer,
): { rejected: Answer } | Omit<EndpointRequest, "wanted"> => {
  if ("status" in reading) return { rejected: reading };
  if ("errors" in reading) return { rejected: inputErrors(reading.errors) };
  const { input, possible } = reading;
  const outcome = (!possible && endpoint.notFound) || endpoint.rejectEarly?.(input, knowledge);
  return outcome ? { rejected: answerOf(outcome) } : { endpoint, input, legacy: endpoint.legacy(input) };
};

const callerOf = (
  { keys, totalTimeout }: Services,
  { credential: { key }, headers, client, header }: RequestInput,
  writes: boolean,
  holding: Holding,
): RequestCaller => {
  const background = () => ({
    headers,
    client,
    key,
    deadline: performance.now() + totalTimeout,
    spent: { calls: 0, ms: 0 },
  });
  const authorize = async (isWrite: boolean, byModern: boolean): Promise<Answer | undefined> => {
    if (key === undefined) return undefined;
    const wasAccepted = byModern && keys.wasAccepted(keys.ownerOf(key));
    // Other requests may wait for the same verification: it has a deadline of its own, and no request waits past its own deadline.
    const left = Math.min(Math.max(1, caller.deadline - performance.now()), wasAccepted ? RECHECK_MS : Infinity);
    const verified = await withTimeout(keys.verify({ ...background(), key }, isWrite), left);
    const refusal = verified === "late" ? timedOut : verified;
    if (refusal === undefined) return undefined;
    const isSaid = refusal.kind === "unauthenticated" || refusal.kind === "forbidden";
    if (!byModern || isSaid) return answerOf(refusal);
    return wasAccepted ? undefined : answerOf(unverified);
  };
  const caller: RequestCaller = {
    ...background(),
    header,
    holding,
    background,
    authorize: (byModern = false) => authorize(writes, byModern),
    asReader: () => ({ ...caller, authorize: (byModern = false) => authorize(false, byModern) }),
  };
  return caller;
};
