import { type Answer, answerOf, type ErrorTable, type Outcome } from "../../catalogue/index.ts";
import { uncached } from "../cache/served.ts";
import type { Handler } from "./context.ts";
import type { Additions } from "./additions.ts";
import type { Core } from "./core.ts";

/** Milliseconds for which a cached answer for the caller proves that the caller may read the resource. */
const MAX_AGE_OF_ACCESS = 60_000;

/** Only a fresh answer counts: an answer that is served because a backend fails may no longer be true. */
const WANTED = { maxAge: MAX_AGE_OF_ACCESS, onlyFresh: true } as const;

const unclear: Outcome = {
  kind: "broken",
  message: "It could not be found out whether the caller may read what is to be written.",
};

/**
 * Checks the access of a write, if the definition says that the backends do not check it: the caller must be able to
 * read the resource. The read is handled like any other, by the stage of its endpoint. If the read is refused or fails,
 * the write is not sent.
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

/** True if the caller has access, or the resource cannot be private: the backend then answers the write. */
const isForBackend = ({ status, body }: Answer, errors: ErrorTable): boolean => {
  if (status !== 412) return status === 200 || status === 404 || status === 410;
  // A code that is not in the table may mean anything.
  const { detail } = JSON.parse(body.toString()) as { detail: { code?: string } };
  return errors.has(Number(detail.code));
};
