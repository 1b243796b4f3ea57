import { openHolding, shownTarget } from "../../operation/index.ts";
import {
  answerOf,
  type CodedError,
  fateByCode,
  isFrontsError,
  isPage,
  type LegacyReading,
  type LegacyRequest,
  type Outcome,
  outcomeAt,
  outcomeOf,
  ownStatusOf,
  type Read,
  readLegacy,
  type ReadTask,
  xmlReader,
} from "../../catalogue/index.ts";
import type { UpstreamReply } from "../upstream/ask.ts";
import type { Caller, LegacyFailed } from "../upstream/legacyClient.ts";
import type { MaybePromise, ReadFailure } from "../threads/reader.ts";
import { retryAfterOf } from "../upstream/retryAfter.ts";
import type { AnswerFunctions, FetchedAnswer, FetchRequest, LegacyAnswer } from "./answerFunctions.ts";
import type { WholeCore } from "./core.ts";
import { isIll, reportIll } from "./illAnswer.ts";

type ToAsk = Pick<WholeCore, "client" | "observer" | "keys" | "errors">;
/** The services that fetching from legacy needs; the cache is not among them. */
export type ToFetch = ToAsk & Pick<WholeCore, "reader" | "memory" | "events" | "serviceKey">;

/** A missing or wrong key. */
export const unauthenticated: Outcome = { kind: "unauthenticated", code: "103", message: "Authentication failed" };

/** The outcome if the answer is neither a document nor an error of legacy itself. */
export const noAnswer: Outcome = {
  kind: "broken",
  message: "The legacy interface answered with something that is no answer.",
};

/** True if legacy, or a server in front of it, has no room for this caller (429) or for any caller (503). */
const isBusy = (status: number): boolean => status === 429 || status === 503;

const busy = (retryAfter: string | undefined): Outcome => ({
  kind: "unavailable",
  message: "The legacy interface has no room now.",
  retryAfter: retryAfterOf(retryAfter),
});

type SendableRequest = FetchRequest & { legacy: LegacyRequest };

/** Opens `fetchAnswer` of the core. */
export const openFetchAnswer =
  (core: ToFetch): AnswerFunctions["fetchAnswer"] =>
  async (request, as = "answer") => {
    const { endpoint, legacy } = request;
    if ("unsent" in legacy)
      return outcomeAnswer(request, { kind: "broken", message: legacy.unsent }, { fate: "refused" });
    const started = performance.now();
    const byPost = legacy.method === "POST" && endpoint.writes === undefined;
    // Without a holding no client waits for the answer: its bytes are released as soon as it is read.
    const own = request.holding === undefined ? openHolding(core.memory) : undefined;
    const sent = { ...request, legacy, holding: request.holding ?? own };
    const fetched = await (byPost ? fetchByPost : fetchDocument)(core, sent, as).finally(() => own?.close());
    const { status } = fetched.answer;
    core.events.emit("legacyAnswer", { endpoint: endpoint.name, ms: performance.now() - started, status });
    return fetched;
  };

/**
 * Fetches by POST. Legacy answers some reads only by POST, and a POST only with a key that may write: the gateway sends
 * the caller's key, else its own.
 */
const fetchByPost: typeof fetchDocument = async (core, sent, as) => {
  const refuse = (additional: string) => outcomeAnswer(sent, { ...unauthenticated, additional });
  const { serviceKey } = core;
  const key = sent.key ?? serviceKey?.key;
  if (key === undefined) return refuse("The legacy interface answers this only with a key.");
  const fetched = await fetchDocument(core, { ...sent, key }, as);
  const kind = fetched.outcome?.kind;
  if (kind !== "forbidden" && kind !== "unauthenticated") {
    if (sent.key === undefined && fetched.answer.status < 500) serviceKey?.report(true);
    return fetched;
  }
  if (sent.key === undefined) {
    serviceKey?.report(false);
    core.observer.event("service_key_refused", { endpoint: sent.endpoint.name });
    return refuse("The legacy interface answers this only with a key, and refused the gateway's own.");
  }
  return kind === "forbidden" ? refuse("The legacy interface answers this only with a key that may write.") : fetched;
};

const fetchDocument = async (core: ToFetch, sent: SendableRequest, as: ReadTask["as"]): Promise<FetchedAnswer> => {
  const { observer } = core;
  const { endpoint, legacy } = sent;
  const reply = await askAndRead(core, sent, legacy, readBy(core, sent, as), endpoint.format);
  if ("failed" in reply) {
    const { failed, isUnsent, forOne } = reply;
    return outcomeAnswer(sent, failed, { fate: isUnsent ? "refused" : "unknown", forOne });
  }
  const { reading, status } = reply;
  if (isBusy(status))
    return outcomeAnswer(
      sent,
      busy(reply.retryAfter),
      status === 429 ? { fate: "refused", forOne: "limited" } : { fate: "unknown" },
    );
  // A front refuses with a 4xx page; errors of legacy itself have status 412.
  const isFrontRefusal = status >= 400 && status < 500 && status !== 412;
  if (reading.is === "unreadable")
    return outcomeAnswer(sent, noAnswer, { fate: isFrontRefusal ? "refused" : "unknown" });
  if (reading.is === "error") return answerToError(core, sent, reading, status);
  if (status !== 200) {
    observer.event("odd_status", { endpoint: endpoint.name, status });
    return outcomeAnswer(sent, noAnswer, { fate: "unknown" });
  }
  for (const field of reading.unknown) observer.event("unknown_field", { endpoint: endpoint.name, field });
  if ("written" in reading) return reading.written;
  if ("outcome" in reading) return outcomeAnswer(sent, reading.outcome);
  observer.event("schema_mismatch", { endpoint: endpoint.name, places: reading.mismatch });
  return outcomeAnswer(sent, { kind: "broken", message: "The legacy interface's answer is not what it should be." });
};

/** Reads a reply as the endpoint's answer; a large reply is read in another thread. */
const readBy =
  ({ reader }: ToFetch, { endpoint, input, deadline, holding }: FetchRequest, as: ReadTask["as"]) =>
  (body: Buffer) =>
    reader.read({ endpoint: endpoint.name, as, input }, body, deadline, holding);

/** The answer for an outcome. `status`: legacy's status, if the client gets it instead of the outcome's status. */
const outcomeAnswer = (
  { endpoint, input }: FetchRequest,
  outcome: Outcome,
  { status, ...shared }: Pick<FetchedAnswer, "fate" | "forOne"> & { status?: number | undefined } = {},
): FetchedAnswer => ({
  answer: answerOf(outcome, status),
  groups: endpoint.cache?.groups(input) ?? [],
  outcome,
  ...shared,
});

const answerToError = async (
  core: ToFetch,
  sent: SendableRequest,
  error: CodedError,
  status: number,
): Promise<FetchedAnswer> => {
  const { endpoint } = sent;
  const outcome = outcomeAt(endpoint, error, core.errors);
  if (outcome.kind === "unknown" || outcome.kind === "misasked")
    core.observer.event(`code_${outcome.kind}`, { endpoint: endpoint.name, code: error.code });
  if (error.code === endpoint.recover?.code) return (await recover(core, sent)) ?? outcomeAnswer(sent, outcome);
  // Without its database legacy performs no write. The error code of another gateway says if the write was performed.
  const fate = outcome.kind === "unavailable" ? "refused" : fateByCode(String(error.code));
  return outcomeAnswer(sent, outcome, {
    status: ownStatusOf(outcome, status),
    ...(fate === undefined ? {} : { fate }),
  });
};

/**
 * Finds the answer by another request to legacy, if legacy's error does not say what happened. `undefined`: the other
 * answer does not say it either.
 */
const recover = async (core: ToFetch, sent: SendableRequest): Promise<FetchedAnswer | undefined> => {
  const { endpoint, input } = sent;
  const look = endpoint.recover?.look(input);
  if (!look || "unsent" in look) return undefined;
  const reply = await askAndRead(core, sent, look, readBy(core, sent, "recovered"));
  if ("failed" in reply) return undefined;
  const { reading } = reply;
  if (reading.is === "error" && endpoint.recover?.errors?.has(reading.code))
    return outcomeAnswer(sent, endpoint.recover.outcome?.(input, {}) ?? outcomeOf(reading, core.errors));
  if (reading.is !== "document" || "mismatch" in reading) return undefined;
  return "written" in reading ? reading.written : outcomeAnswer(sent, reading.outcome);
};

const readFailures: Record<ReadFailure["failure"], LegacyFailed> = {
  full: {
    failed: { kind: "unavailable", message: "Too many large answers of the legacy interface wait to be read." },
    why: "too many large answers wait to be read",
    forOne: "noRoom",
  },
  late: {
    failed: { kind: "tooSlow", message: "The legacy interface's answer took too long to read." },
    why: "reading the answer took too long",
    forOne: "noRoom",
  },
  broken: {
    failed: { kind: "broken", message: "The legacy interface's answer could not be read." },
    why: "reading the answer failed",
  },
};

type Reading = LegacyReading | Read;
type Unreadable = Extract<LegacyReading, { is: "unreadable" }>;

/** A reply that was fetched and read. `isIll`: the event `legacy_ill` has reported it. */
type ReadReply<R> = LegacyAnswer<R | Unreadable> & { isIll: boolean; retryAfter?: string | undefined };

/** The reading of an answer that would be the same in the other form, so that it is not requested in that form. */
const noForm: Unreadable = { is: "unreadable", why: "it is a front's" };

/** True if the other form would get the same answer: a page, a redirection, or a refusal because there is no room. */
const isNoForm = ({ status, body, judgement }: UpstreamReply): boolean =>
  isBusy(status) || (status >= 300 && status < 400 && judgement === "ill") || isPage(body);

/** A caller, and the parts of the endpoint by which its answers are read. */
type ReadingCaller = Caller & { endpoint: { name: string; hasMarkup?: boolean } };

/**
 * Fetches JSON. If the JSON cannot be read, or if markup has become an object in it, fetches a GET again, once, as XML.
 * `format: "xml"` fetches XML only. `read` reads a reply.
 */
const askAndRead = async <R extends Reading>(
  core: ToAsk,
  caller: ReadingCaller,
  request: LegacyRequest,
  read: (body: Buffer) => MaybePromise<R | ReadFailure>,
  format: "json" | "xml" = "json",
): Promise<ReadReply<R> | LegacyFailed> => {
  const { client, observer } = core;
  const { name, hasMarkup } = caller.endpoint;
  const askFor = async (wanted: "json" | "xml"): Promise<ReadReply<R> | LegacyFailed> => {
    const reply = await client(request, wanted, caller);
    if ("failed" in reply) return reply;
    const { status, advice } = reply;
    if (isIll(reply)) reportIll(observer, name, reply, { key: caller.key, isOfClient: caller.client !== undefined });
    if (isNoForm(reply)) return { status, reading: noForm, retryAfter: advice?.["Retry-After"], isIll: isIll(reply) };
    const reading = read(reply.body);
    const result = reading instanceof Promise ? await reading : reading;
    if ("failure" in result) return readFailures[result.failure];
    const isFronts = result.is === "error" && isFrontsError(status, String(result.code));
    return { status, reading: isFronts ? noForm : result, isIll: isIll(reply) };
  };
  let reply = await askFor(format);
  // A POST is never sent twice.
  if (format === "json" && request.method === "GET" && !("failed" in reply)) {
    const { reading, status } = reply;
    // A front's 5xx counts as no answer, not as broken JSON. So does an empty 500, except for endpoints with markup:
    // there legacy may have failed to write a text as JSON that it does not escape.
    if (
      reading.is === "unreadable" &&
      reading !== noForm &&
      (status < 500 || (status === 500 && (!reading.empty || hasMarkup === true)))
    ) {
      observer.event("json_broken", { endpoint: name, legacyPath: shownTarget(request.path), why: reading.why });
      reply = await askFor("xml");
    }
    // In JSON, a text with markup has become an object; the XML form has the text.
    if (hasMarkup && status === 200 && "mismatch" in reading && reading.form === "json") {
      const other = await askFor("xml");
      if ("reading" in other && other.reading.is === "document") reply = other;
    }
  }
  if ("failed" in reply)
    observer.event("legacy_failed", { endpoint: name, why: reply.why, level: reply.isItsFault ? "error" : "warn" });
  else if (reply.reading.is === "unreadable") {
    if (reply.isIll) return reply;
    observer.event("legacy_unreadable", {
      endpoint: name,
      legacyPath: shownTarget(request.path),
      status: reply.status,
      why: reply.reading.why,
    });
  } else noteKey(core, caller, reply.reading, reply.status);
  return reply;
};

/** Opens `fetchReadable` of the core. */
export const openFetchReadable = (core: ToAsk): AnswerFunctions["fetchReadable"] => {
  const readXml = xmlReader([]);
  return (caller, request) => askAndRead<LegacyReading>(core, caller, request, (body) => readLegacy(body, readXml));
};

/** Notes what a reading shows about the key. Legacy checks its database first, then the key, then all else. */
const noteKey = ({ keys, errors }: ToAsk, { key }: Caller, reading: Reading, status: number) => {
  if (key === undefined || (reading.is === "document" && status !== 200)) return;
  const kind = reading.is === "error" ? outcomeOf(reading, errors).kind : undefined;
  if (kind === "unauthenticated") keys.refused(key);
  else if (kind !== "unavailable" && kind !== "unknown") keys.accepted(key);
};
