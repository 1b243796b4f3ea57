import { openHolding } from "../../operation/limits/byteBudget.ts";
import type { Fetched } from "../cache/cacheRequest.ts";
import { answerOf } from "../../catalogue/endpoint/answer.ts";
import type { LegacyRequest } from "../../catalogue/endpoint/legacyRequest.ts";
import type { Outcome } from "../../catalogue/endpoint/outcome.ts";
import { shownTarget } from "../../operation/telemetry/exchange.ts";
import type { Caller, LegacyFailed, LegacyReply, LegacyAnswer } from "../upstream/legacyClient.ts";
import { type CodedError, type LegacyReading, outcomeOf, ownStatusOf } from "../../catalogue/legacy/reading.ts";
import type { Read, ReadTask, Written } from "../../catalogue/reading/readAnswer.ts";
import type { MaybePromise, ReadFailure } from "../threads/reader.ts";
import type { EndpointRequest } from "./backend.ts";
import type { Services } from "./feature.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** What asking legacy needs. */
type AskServices = Pick<Services, "client" | "observer" | "keys" | "errors">;
/** What fetching from legacy needs; it knows no cache. */
export type FetchServices = AskServices & Pick<Services, "reader" | "memory" | "events" | "serviceKey">;

/**
 * What became of a write, by its answer. `written`: the backend has looked at it, and what it is about may have changed. `unknown`: the backend
 * broke off or failed, before or after. `refused`: nothing was written.
 */
export type WriteFate = "written" | "unknown" | "refused";

/** Our answer to a request, made of legacy's, and the groups that it belongs to. */
export type FetchedAnswer = Fetched & {
  /** What the request came to, unless it is our document. */
  outcome?: Outcome;
  /** Of a write; `written` where it is absent. */
  fate?: WriteFate;
};

/** A missing or wrong key. */
export const unauthenticated: Outcome = { kind: "unauthenticated", code: "103", message: "Authentication failed" };

/** Legacy's answer is neither a document nor an error of its own. */
export const noAnswer: Outcome = {
  kind: "broken",
  message: "The legacy interface answered with something that is no answer.",
};

type RequestToLegacy = Pick<EndpointRequest, "endpoint" | "input" | "legacy">;
type SentRequest = RequestToLegacy & { legacy: LegacyRequest };

/** Asks legacy and makes our answer of what it says. As `lines` each row of a list is a line, so that lists can be merged without parsing them. */
export const fetchAnswer = async (
  services: FetchServices,
  request: RequestToLegacy,
  caller: Caller,
  as: "answer" | "lines" = "answer",
): Promise<FetchedAnswer> => {
  const { endpoint, legacy } = request;
  if ("unsent" in legacy) return answerTo(request, { kind: "broken", message: legacy.unsent }, { fate: "refused" });
  const started = performance.now();
  const byPost = legacy.method === "POST" && endpoint.writes === undefined;
  const fetchBy = byPost ? fetchByPost : fetchDocument;
  // No client waits for what has no holding: its bytes are given back as soon as it is read.
  const own = caller.holding === undefined ? openHolding(services.memory) : undefined;
  const by = own === undefined ? caller : { ...caller, holding: own };
  const fetched = await fetchBy(services, { ...request, legacy }, by, as).finally(() => own?.close());
  const { status } = fetched.answer;
  services.events.emit("legacyAnswer", { endpoint: endpoint.name, ms: performance.now() - started, status });
  return fetched;
};

/** Legacy answers some reads only by POST, and a POST only with a key that may write: the caller's, else the gateway's own. */
const fetchByPost: typeof fetchDocument = async (services, request, caller, as) => {
  const refuse = (additional: string) => answerTo(request, { ...unauthenticated, additional });
  const key = caller.key ?? services.serviceKey;
  if (key === undefined) return refuse("The legacy interface answers this only with a key.");
  const fetched = await fetchDocument(services, request, { ...caller, key }, as);
  const kind = fetched.outcome?.kind;
  if (kind !== "forbidden" && kind !== "unauthenticated") return fetched;
  if (caller.key === undefined) {
    services.observer.event("service_key_refused", { endpoint: request.endpoint.name });
    return refuse("The legacy interface answers this only with a key, and refused the gateway's own.");
  }
  return kind === "forbidden" ? refuse("The legacy interface answers this only with a key that may write.") : fetched;
};

const fetchDocument = async (
  services: FetchServices,
  request: SentRequest,
  caller: Caller,
  as: ReadTask["as"],
): Promise<FetchedAnswer> => {
  const { observer, reader } = services;
  const { endpoint, input, legacy } = request;
  const task: ReadTask = { endpoint: endpoint.name, as, input };
  const read = ({ body }: LegacyReply) => reader.read(task, body, caller.deadline, caller.holding);
  const reply = await askAndRead(services, endpoint, legacy, caller, read, endpoint.format);
  if ("failed" in reply) {
    const { failed, isUnsent, isForOne } = reply;
    return answerTo(request, failed, {
      fate: isUnsent ? "refused" : "unknown",
      ...(isForOne ? { isForOne } : {}),
    });
  }
  const { reading, status } = reply;
  // A front refuses by a 4xx page; legacy's own errors are 412.
  const isFrontRefusal = status >= 400 && status < 500 && status !== 412;
  if (reading.is === "unreadable") return answerTo(request, noAnswer, { fate: isFrontRefusal ? "refused" : "unknown" });
  if (reading.is === "error") return answerToError(services, request, caller, reading, status);
  if (status !== 200) {
    observer.event("odd_status", { endpoint: endpoint.name, status });
    return answerTo(request, noAnswer, { fate: "unknown" });
  }
  for (const field of reading.unknown) observer.event("unknown_field", { endpoint: endpoint.name, field });
  if ("written" in reading) return documentAnswer(request, reading.written);
  if ("outcome" in reading) return answerTo(request, reading.outcome);
  observer.event("schema_mismatch", { endpoint: endpoint.name, places: reading.mismatch });
  return answerTo(request, { kind: "broken", message: "The legacy interface's answer is not what it should be." });
};

const documentAnswer = ({ endpoint, input }: RequestToLegacy, { answer, excerpt }: Written): FetchedAnswer => ({
  answer,
  // Only the excerpt of the document is at hand here: a large one is made in another thread.
  groups: endpoint.cache?.groups(input, excerpt) ?? [],
});

/** `status`: legacy's, where the client gets that in place of the outcome's. */
const answerTo = (
  { endpoint, input }: RequestToLegacy,
  outcome: Outcome,
  { status, ...about }: Pick<FetchedAnswer, "fate" | "isForOne"> & { status?: number | undefined } = {},
): FetchedAnswer => ({
  answer: answerOf(outcome, status),
  groups: endpoint.cache?.groups(input) ?? [],
  outcome,
  ...about,
});

/** The answer to an error of legacy's, by its code. */
const answerToError = async (
  services: FetchServices,
  request: SentRequest,
  caller: Caller,
  error: CodedError,
  status: number,
): Promise<FetchedAnswer> => {
  const { endpoint } = request;
  const outcome = endpoint.errors?.[error.code] ?? outcomeOf(error, services.errors);
  if (outcome.kind === "unknown" || outcome.kind === "misasked")
    services.observer.event(`code_${outcome.kind}`, { endpoint: endpoint.name, code: error.code });
  if (error.code === endpoint.recover?.code)
    return (await recover(services, request, caller)) ?? answerTo(request, outcome);
  return answerTo(request, outcome, {
    status: ownStatusOf(outcome, status),
    // Without its database legacy looks at nothing.
    ...(outcome.kind === "unavailable" ? { fate: "refused" } : {}),
  });
};

/** The answer by another request to legacy, where its error does not say what happened; `undefined` where that does not say it either. */
const recover = async (
  services: FetchServices,
  request: SentRequest,
  caller: Caller,
): Promise<FetchedAnswer | undefined> => {
  const { endpoint, input } = request;
  const look = endpoint.recover?.look(input);
  if (!look || "unsent" in look) return undefined;
  const task: ReadTask = { endpoint: endpoint.name, as: "recovered", input };
  const read = ({ body }: LegacyReply) => services.reader.read(task, body, caller.deadline, caller.holding);
  const reply = await askAndRead(services, endpoint, look, caller, read);
  if ("failed" in reply) return undefined;
  const { reading } = reply;
  if (reading.is === "error" && endpoint.recover?.errors?.has(reading.code))
    return answerTo(request, endpoint.recover.outcome?.(input, {}) ?? outcomeOf(reading, services.errors));
  if (reading.is !== "document" || "mismatch" in reading) return undefined;
  return "written" in reading ? documentAnswer(request, reading.written) : answerTo(request, reading.outcome);
};

const readFailures: Record<ReadFailure["failure"], LegacyFailed> = {
  full: {
    failed: { kind: "unavailable", message: "Too many large answers of the legacy interface wait to be read." },
    why: "too many large answers wait to be read",
    isForOne: true,
  },
  late: {
    failed: { kind: "tooSlow", message: "The legacy interface's answer took too long to read." },
    why: "reading the answer took too long",
    isForOne: true,
  },
  broken: {
    failed: { kind: "broken", message: "The legacy interface's answer could not be read." },
    why: "reading the answer failed",
  },
};

type Reading = LegacyReading | Read;

/**
 * Asks for JSON. If it cannot be read, or markup in it has become an object, asks a GET once more for XML. `format: "xml"` asks for XML only.
 * `read` says how a reply is read.
 */
const askAndRead = async <R extends Reading>(
  services: AskServices,
  endpoint: Pick<PreparedEndpoint, "name" | "readXml"> & Partial<Pick<PreparedEndpoint, "hasMarkup">>,
  request: LegacyRequest,
  caller: Caller,
  read: (reply: LegacyReply) => MaybePromise<R | ReadFailure>,
  format: "json" | "xml" = "json",
): Promise<LegacyAnswer<R> | LegacyFailed> => {
  const { client, observer } = services;
  const { name, hasMarkup } = endpoint;
  const askFor = async (wanted: "json" | "xml"): Promise<LegacyAnswer<R> | LegacyFailed> => {
    const reply = await client(request, wanted, caller, endpoint.readXml);
    if ("failed" in reply) return reply;
    const reading = read(reply);
    const result = reading instanceof Promise ? await reading : reading;
    return "failure" in result ? readFailures[result.failure] : { status: reply.status, reading: result };
  };
  let reply = await askFor(format);
  // A POST is never sent twice.
  if (format === "json" && request.method === "GET" && !("failed" in reply)) {
    const { reading, status } = reply;
    // A front's 5xx is no badly written answer but none, as an empty 500 is, except where legacy could not make JSON of a text that it
    // does not escape.
    if (reading.is === "unreadable" && (status < 500 || (status === 500 && (!reading.empty || hasMarkup === true)))) {
      observer.event("json_broken", { endpoint: name, legacyPath: shownTarget(request.path), why: reading.why });
      reply = await askFor("xml");
    }
    // Markup makes an object of a text in JSON; the XML form has the text.
    if (hasMarkup && status === 200 && "mismatch" in reading && reading.form === "json") {
      const other = await askFor("xml");
      if ("reading" in other && other.reading.is === "document") reply = { status, reading: other.reading };
    }
  }
  if ("failed" in reply)
    observer.event("legacy_failed", { endpoint: name, why: reply.why, level: reply.isItsFault ? "error" : "warn" });
  else if (reply.reading.is === "unreadable")
    observer.event("legacy_unreadable", {
      endpoint: name,
      legacyPath: shownTarget(request.path),
      status: reply.status,
      why: reply.reading.why,
    });
  else noteKey(services, caller, reply.reading, reply.status);
  return reply;
};

/** The document itself, parsed in this thread: for answers that are known to be small. */
export const fetchReadable = (
  services: AskServices,
  endpoint: Pick<PreparedEndpoint, "name" | "readXml">,
  request: LegacyRequest,
  caller: Caller,
): Promise<LegacyAnswer | LegacyFailed> =>
  askAndRead<LegacyReading>(services, endpoint, request, caller, ({ reading }) => reading);

/** Legacy looks at the key before anything else, but at its database before the key. */
const noteKey = ({ keys, errors }: AskServices, { key }: Caller, reading: Reading, status: number) => {
  if (key === undefined || (reading.is === "document" && status !== 200)) return;
  const kind = reading.is === "error" ? outcomeOf(reading, errors).kind : undefined;
  if (kind === "unauthenticated") keys.refused(key);
  else if (kind !== "unavailable" && kind !== "unknown") keys.accepted(key);
};
