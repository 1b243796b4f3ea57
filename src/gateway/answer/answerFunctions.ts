import type { Answer, LegacyReading, LegacyRequest, Outcome } from "../../catalogue/index.ts";
import type { Fetched } from "../cache/cacheRequest.ts";
import type { Caller, LegacyFailed } from "../upstream/legacyClient.ts";
import type { Context } from "./context.ts";

/** A request, and the caller for whom legacy is asked. */
export type FetchRequest = Caller & Pick<Context, "endpoint" | "input" | "legacy">;

/** A caller whose key legacy has to accept; if the endpoint writes, legacy also has to let the key write. */
type AuthorizedCaller = Caller & { endpoint: { writes?: unknown } };

/**
 * The fate of a write, by its answer. `written`: the backend has processed it, and its entity may have changed.
 * `unknown`: the backend broke off or failed, before or after the write. `refused`: nothing was written.
 */
export type WriteFate = "written" | "unknown" | "refused";

/** Our answer to a request, made from legacy's, and the groups that it belongs to. */
export type FetchedAnswer = Fetched & {
  /** The outcome of the request, unless it is our document. */
  outcome?: Outcome;
  /** The fate of a write; `written` if absent. */
  fate?: WriteFate;
};

/** An answer of legacy that was read. */
export type LegacyAnswer<R = LegacyReading> = { status: number; reading: R };

/**
 * The members of the core that make answers. `legacyFetch.ts` makes the first two, `authorize.ts` the last.
 */
export type AnswerFunctions = {
  /**
   * Asks legacy, and makes our answer from its answer. As `lines` each row of a list is a line, so that lists can be
   * merged without parsing them.
   */
  fetchAnswer: (asked: FetchRequest, as?: "answer" | "lines") => Promise<FetchedAnswer>;
  /** Asks legacy for a document itself, parsed in this thread: for answers that are known to be small. */
  fetchReadable: (
    caller: Caller & { endpoint: { name: string } },
    request: LegacyRequest,
  ) => Promise<LegacyAnswer | LegacyFailed>;
  /**
   * Verifies the caller's key with legacy, at most once a minute. The result is the refusal; `undefined` lets the
   * caller in. `byModern`: the answer does not need legacy. If legacy cannot be asked then, a key that it accepted
   * within the last hour counts, and another is 503.
   */
  authorize: (caller: AuthorizedCaller, byModern?: boolean) => Promise<Answer | undefined>;
};
