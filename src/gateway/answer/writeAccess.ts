import type { Representation } from "../cache/entry.ts";
import { answerOf } from "../../catalogue/endpoint/answer.ts";
import type { Outcome } from "../../catalogue/endpoint/outcome.ts";
import type { ErrorTable } from "../../catalogue/legacy/reading.ts";
import { type Backend, uncached } from "./backend.ts";
import type { Services } from "./feature.ts";

/** Milliseconds for which an answer that is cached for the caller shows what the caller may read. */
const MAX_AGE_OF_ACCESS = 60_000;

/** Only what is fresh: what is served because a backend fails may no longer be true. */
const WANTED = { maxAge: MAX_AGE_OF_ACCESS, minFresh: 1 };

const unclear: Outcome = {
  kind: "broken",
  message: "It could not be found out whether the caller may read what is to be written.",
};

/**
 * Sends a write on after its caller has read what it is about, where the definition says that the backends do not check access. The read
 * goes the way of any other, by the stage of the endpoint that reads. If it is refused or fails, the write is not sent.
 */
export const afterAccess =
  ({ hooks, errors }: Pick<Services, "hooks" | "errors">, next: Backend): Backend =>
  async (request, caller) => {
    const { endpoint, input } = request;
    const { mustRead } = endpoint;
    if (mustRead === undefined) return next(request, caller);
    const readInput = mustRead.inputOf(input);
    const legacy = mustRead.endpoint.legacy(readInput);
    const read = { endpoint: mustRead.endpoint, input: readInput, legacy, wanted: WANTED };
    const { representation, how } = await next(read, caller.asReader());
    const isStale = how.detail === "stale-if-error";
    if (!isStale && isForBackend(representation, errors)) return next(request, caller);
    const { status } = representation;
    const isAnswer = status === 401 || status === 403 || status >= 500;
    const { stage } = hooks.decide(endpoint.name, caller);
    return {
      ...(isAnswer ? { representation, how: { fwd: "method" } } : uncached(answerOf(unclear), "method")),
      decision: { stage, backend: "gateway", reason: status === 401 ? "credential" : "access" },
    };
  };

/** Whether the caller has access, or what is to be written cannot be private: then its backend answers the write. */
const isForBackend = ({ status, body }: Representation, errors: ErrorTable): boolean => {
  if (status !== 412) return status === 200 || status === 404 || status === 410;
  // A code that the table does not have may mean anything.
  const { detail } = JSON.parse(body.toString()) as { detail: { code?: string } };
  return errors.has(Number(detail.code));
};
