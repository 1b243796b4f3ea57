import {
  type Answer,
  answerOf,
  type CodedError,
  type ErrorTable,
  outcomeAt,
  outcomeOf,
  ownStatusOf,
  readEdges,
} from "../../catalogue/index.ts";
import type { WholeCore } from "../answer/core.ts";
import type { PreparedEndpoint } from "../answer/prepared.ts";
import type { Fetched } from "../cache/cacheRequest.ts";
import type { Entry } from "../cache/entry.ts";
import type { OldRead } from "./oldRead.ts";
import type { ByBytes, ByEndpoint } from "./pathRead.ts";

type JudgingCore = Pick<
  WholeCore,
  "errors" | "events" | "judgeEmpty" | "observer" | "provedReads" | "reader" | "totalTimeout"
>;

/** An answer of the legacy interface. */
type OldAnswer = Answer & { body: Buffer };

/** The facts that are stored with an answer's bytes. */
type Judged = Omit<Fetched, "answer"> & { judged: number };

/** Such an answer is not stored, and the stored entry is no longer right. */
const REFUSED = 403;

/** Says how legacy's answer is stored. `before`: the public entry that is stored so far. */
export const judge = async (
  core: JudgingCore,
  read: Pick<OldRead, "name" | "judging" | "cacheKey" | "client" | "path" | "posted">,
  answer: OldAnswer,
  before: Entry | undefined,
): Promise<Fetched> => {
  const { name, judging, client } = read;
  if (!("endpoint" in judging)) return judgedAs(answer, judgeBytes(core, name, judging, answer));
  const fetched = judgedAs(answer, await judgeDocument(core, judging, read, answer));
  return core.judgeEmpty(fetched, { ...judging, client }, before);
};

const judgedAs = (answer: OldAnswer, { judged, ...stored }: Judged): Fetched => ({
  ...stored,
  answer: { ...answer, judged },
});

const unreadable = ({ observer }: Pick<JudgingCore, "observer">, endpoint: string, status: number): number => {
  observer.event("legacy_cache_unreadable", { endpoint, status });
  return 502;
};

/** Judges an answer by the answer that the new interface would give. */
const judgeDocument = async (
  core: JudgingCore,
  { endpoint, input }: ByEndpoint,
  { cacheKey, path, posted }: Pick<OldRead, "cacheKey" | "path" | "posted">,
  { status, body }: OldAnswer,
): Promise<Judged> => {
  const { errors, events, provedReads, reader, totalTimeout } = core;
  const groups = endpoint.cache?.groups(input) ?? [];
  // A copy: the bytes of a large answer go to a thread.
  const read = await reader.read(
    // Only a GET can be answered by modern.
    { endpoint: endpoint.name, as: "answer", input, isProved: posted === undefined && provedReads.has(endpoint.name) },
    Buffer.from(body),
    performance.now() + totalTimeout,
  );
  if ("failure" in read) return { judged: 503, groups };
  if (read.is === "error") return { judged: judgeError(errors, endpoint, read, status), groups };
  if (read.is === "document" && status === 200) {
    if ("written" in read) {
      if (read.lost) events.emit("oldAnswerRead", { endpoint: endpoint.name, path, lost: read.lost });
      const { answer: _, ...stored } = read.written;
      return { judged: 200, ...stored };
    }
    if ("outcome" in read) {
      const { status: judged } = answerOf(read.outcome);
      // Legacy still has it.
      if (read.outcome.kind !== "gone") return { judged, groups };
      const freshAtMost = cacheKey.lifetimesOf(judged)?.fresh ?? 0;
      return { judged: 200, groups: [...groups, ...(endpoint.cache?.goneGroups ?? [])], freshAtMost };
    }
    if (read.complete !== undefined) return { judged: 200, groups, ...read.complete };
  }
  return { judged: unreadable(core, endpoint.name, status), groups };
};

/** The status by which an endpoint's error is stored. */
const judgeError = (errors: ErrorTable, endpoint: PreparedEndpoint, error: CodedError, status: number): number => {
  const outcome = outcomeAt(endpoint, error, errors);
  return answerOf(outcome, ownStatusOf(outcome, status)).status;
};

/**
 * True where legacy says to a caller with a key or a session that a list is empty, and that is not believed. It is
 * judged as to a caller without. `stored`: the public entry.
 */
export const isDoubted = async (
  core: Pick<JudgingCore, "errors" | "judgeEmpty">,
  { judging, client }: Pick<OldRead, "judging" | "client">,
  { status, body, code }: Pick<OldAnswer, "status" | "body"> & { code: string },
  stored: Entry | undefined,
): Promise<boolean> => {
  if (!("endpoint" in judging)) return false;
  const error = { is: "error", code: Number(code), message: "" } as const;
  const isEmpty = judgeError(core.errors, judging.endpoint, error, status) === 404;
  const fetched = { answer: { status, body, judged: 404 }, groups: [] };
  return isEmpty && (await core.judgeEmpty(fetched, { ...judging, client }, stored)).answer.judged === 503;
};

/**
 * Judges an answer that no endpoint reads. Of its errors, how long they hold is known of two kinds: nothing is
 * there, or nothing is shown.
 */
const judgeBytes = (core: JudgingCore, name: string, { groups }: ByBytes, { status, body }: OldAnswer): Judged => {
  const read = readEdges(body);
  if (read.is === "document" && status === 200) return { judged: 200, groups: groups(true) };
  if (read.is !== "error") return { judged: unreadable(core, name, status), groups: groups(false) };
  const outcome = outcomeOf(read, core.errors);
  const ours = answerOf(outcome, ownStatusOf(outcome, status)).status;
  const isNothing = outcome.kind === "notFound" || outcome.kind === "noAccess";
  return { judged: isNothing ? 404 : ours >= 500 ? ours : REFUSED, groups: groups(false) };
};
