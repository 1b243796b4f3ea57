import { type Answer, answerOf, type ErrorTable, type Outcome } from "../../catalogue/index.ts";
import { uncached } from "../cache/served.ts";
import type { Handler } from "./context.ts";
import type { Additions } from "./additions.ts";
import type { Core } from "./core.ts";

/** Milliseconds for which an answer that is cached for the caller shows what the caller may read. */
const MAX_AGE_OF_ACCESS = 60_000;

/** Only what is fresh: what is served because a backend fails may no longer be true. */
const WANTED = { maxAge: MAX_AGE_OF_ACCESS, onlyFresh: true } as const;

const unclear: Outcome = {
  kind: "broken",
  message: "It could not be found out whether the caller may read what is to be written.",
};

/**
 * Sends a write on after its caller has read what it is about, where the definition says that the backends do not
 * check access. The read goes the way of any other, by the stage of the endpoint that reads. If it is refused or
 * fails, the write is not sent.
 */
export const afterAccess =
  ({ errors }: Pick<Core, "errors">, decide: Additions["decide"], next: Handler): Handler =>
  async (context) => {
    const { mustRead } = context.endpoint;
    if (mustRead === undefined || context.endpoint.writes === undefined) return next(context);
    const { endpoint } = mustRead;
    const input = mustRead.inputOf(context.input);
    const { answer, how } = await next({ ...context, endpoint, input, legacy: endpoint.legacy(input), wanted: WANTED });
    const isStale = how.detail === "stale-if-error";
    if (!isStale && isForBackend(answer, errors)) return next(context);
    const { status } = answer;
    const isSaid = status === 401 || status === 403 || status >= 500;
    const { stage } = decide(context.endpoint.name, context);
    return {
      ...uncached(isSaid ? answer : answerOf(unclear), "method"),
      decision: { stage, backend: "gateway", reason: status === 401 ? "credential" : "access" },
    };
  };

/** Whether the caller has access, or what is to be written cannot be private: then its backend answers the write. */
const isForBackend = ({ status, body }: Answer, errors: ErrorTable): boolean => {
  if (status !== 412) return status === 200 || status === 404 || status === 410;
  // A code that the table does not have may mean anything.
  const { detail } = JSON.parse(body.toString()) as { detail: { code?: string } };
  return errors.has(Number(detail.code));
};
