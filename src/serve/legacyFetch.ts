import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import type { Caller, LegacyFailed, LegacyAnswer, LegacyReply } from "../legacy/client.ts";
import { type LegacyReading, outcomeOf, ownStatusOf } from "../legacy/reading.ts";
import { scrubTarget } from "../scrub/requestTarget.ts";
import type { Read, ReadTask, Written } from "../reading/readAnswer.ts";
import type { MaybePromise, Unread } from "../reading/reader.ts";
import type { Services } from "./feature.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** What fetching from legacy needs; it knows no cache. */
export type FetchServices = Omit<Services, "cache" | "unconfirmed" | "meter" | "dependencies" | "hooks">;

/** Of a write that legacy gave no answer of its own to: it was not carried out for certain, or it may have been. */
export type Unanswered = "refused" | "unknown";

type Ended = { outcome: Outcome; status?: number; unanswered?: Unanswered; isForOne?: boolean };

/** Our document, written; or how else it ended, with legacy's `status` where that has to stand. */
export type LegacyResult = { written: Written } | Ended;

type Input = Record<string, unknown>;

/** Asks legacy and makes our answer of what it says. As `lines` each row of a list is a line, so that lists can be merged without parsing them. */
export const fetchAnswer = async (
  services: FetchServices,
  endpoint: PreparedEndpoint,
  request: LegacyRequest,
  caller: Caller,
  input: Input,
  as: "answer" | "lines" = "answer",
): Promise<LegacyResult> => {
  const { observer } = services;
  const read = (reply: LegacyAnswer) => readBy(services, { endpoint: endpoint.name, as, input }, reply, caller);
  const reply = await askEither(services, endpoint, request, caller, read, endpoint.format);
  if ("failed" in reply) {
    const { failed, isUnsent, isForOne = false } = reply;
    return { outcome: failed, unanswered: isUnsent ? "refused" : "unknown", isForOne };
  }
  const { reading, status } = reply;
  // A front refuses by a 4xx page; legacy's own errors are 412.
  const isFrontRefusal = status >= 400 && status < 500 && status !== 412;
  if (reading.is === "unreadable") return { outcome: noAnswer, unanswered: isFrontRefusal ? "refused" : "unknown" };
  if (reading.is === "document" && status !== 200) {
    observer.event("odd_status", { endpoint: endpoint.name, status });
    return { outcome: noAnswer, unanswered: "unknown" };
  }
  if (reading.is === "error") {
    const outcome = endpoint.errors?.[reading.code] ?? outcomeOf(reading, services.errors);
    if (outcome.kind === "unknown" || outcome.kind === "misasked")
      observer.event(`code_${outcome.kind}`, { endpoint: endpoint.name, code: reading.code });
    if (reading.code === endpoint.recover?.code)
      return (await recover(services, endpoint, caller, input)) ?? { outcome };
    const ownStatus = ownStatusOf(outcome, status);
    return {
      outcome,
      ...(ownStatus === undefined ? {} : { status: ownStatus }),
      // Without its database legacy looks at nothing.
      ...(outcome.kind === "unavailable" ? { unanswered: "refused" as const } : {}),
    };
  }
  const document =
    "mismatch" in reading ? await withMarkup(services, endpoint, request, caller, reading, read) : reading;
  for (const field of document.unknown) observer.event("unknown_field", { endpoint: endpoint.name, field });
  if (!("mismatch" in document)) return document;
  observer.event("schema_mismatch", { endpoint: endpoint.name, places: document.mismatch });
  return { outcome: { kind: "broken", message: "The legacy interface's answer is not what it should be." } };
};

/** Legacy's answer is neither a document nor an error of its own. */
export const noAnswer: Outcome = {
  kind: "broken",
  message: "The legacy interface answered with something that is no answer.",
};

type Document = Extract<Read, { is: "document" }>;

/** Markup makes an object of a text in JSON; the XML form has the text. */
const withMarkup = async (
  services: FetchServices,
  endpoint: PreparedEndpoint,
  request: LegacyRequest,
  caller: Caller,
  document: Document,
  read: (reply: LegacyAnswer) => MaybePromise<Read | LegacyFailed>,
): Promise<Document> => {
  if (!("mismatch" in document) || document.form === "xml" || request.method !== "GET" || !endpoint.hasMarkup)
    return document;
  const reply = await services.client(request, "xml", caller, endpoint.readXml);
  const reading = "failed" in reply ? reply : await read(reply);
  return "is" in reading && reading.is === "document" ? reading : document;
};

/** Reads a reply, in this thread or another one. */
const readBy = (
  { reader }: FetchServices,
  task: ReadTask,
  { body }: LegacyAnswer,
  { deadline }: Caller,
): MaybePromise<Read | LegacyFailed> => {
  const reading = reader.read(task, body, deadline);
  return reading instanceof Promise ? reading.then(orFailed) : orFailed(reading);
};

const orFailed = (reading: Read | Unread): Read | LegacyFailed =>
  "unread" in reading ? unread[reading.unread] : reading;

const unread: Record<Unread["unread"], LegacyFailed> = {
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
 * An answer that can be read: where the JSON cannot, the same resource's XML form usually is sound. Or that one alone. `readReply` says
 * how a reply is read.
 */
const askEither = async <R extends Reading>(
  services: Pick<FetchServices, "client" | "observer" | "keys" | "errors">,
  endpoint: Pick<PreparedEndpoint, "name" | "readXml"> & Partial<Pick<PreparedEndpoint, "hasMarkup">>,
  request: LegacyRequest,
  caller: Caller,
  readReply: (reply: LegacyAnswer) => MaybePromise<R | LegacyFailed>,
  form: "json" | "xml" = "json",
): Promise<{ status: number; reading: R } | LegacyFailed> => {
  const { client, observer } = services;
  const name = endpoint.name;
  const askFor = async (wanted: "json" | "xml"): Promise<{ status: number; reading: R } | LegacyFailed> => {
    const reply = await client(request, wanted, caller, endpoint.readXml);
    if ("failed" in reply) return reply;
    const read = readReply(reply);
    const reading = read instanceof Promise ? await read : read;
    return "failed" in reading ? reading : { status: reply.status, reading };
  };
  let reply = await askFor(form);
  // A front's 5xx is no badly written answer but none, as an empty 500 is, except where legacy could not make JSON of a text that it does
  // not escape. A POST is never sent twice.
  if (
    form === "json" &&
    !("failed" in reply) &&
    reply.reading.is === "unreadable" &&
    (reply.status < 500 || (reply.status === 500 && (!reply.reading.empty || endpoint.hasMarkup === true))) &&
    request.method === "GET"
  ) {
    observer.event("json_broken", { endpoint: name, legacyPath: scrubTarget(request.path), why: reply.reading.why });
    reply = await askFor("xml");
  }
  if ("failed" in reply)
    observer.event("legacy_failed", { endpoint: name, why: reply.why, level: reply.isItsFault ? "error" : "warn" });
  else if (reply.reading.is === "unreadable")
    observer.event("legacy_unreadable", {
      endpoint: name,
      legacyPath: scrubTarget(request.path),
      status: reply.status,
      why: reply.reading.why,
    });
  else noteKey(services, caller, reply.reading, reply.status);
  return reply;
};

/** The document itself, parsed in this thread: for answers that are known to be small. */
export const fetchReadable = async (
  services: Pick<FetchServices, "client" | "observer" | "keys" | "errors">,
  endpoint: Pick<PreparedEndpoint, "name" | "readXml">,
  request: LegacyRequest,
  caller: Caller,
  form: "json" | "xml" = "json",
): Promise<LegacyReply | LegacyFailed> =>
  askEither<LegacyReading>(services, endpoint, request, caller, ({ reading }) => reading, form);

/** Legacy looks at the key before anything else, but at its database before the key. */
const noteKey = (
  { keys, errors }: Pick<FetchServices, "keys" | "errors">,
  { key }: Caller,
  reading: Reading,
  status: number,
) => {
  if (key === undefined || (reading.is === "document" && status !== 200)) return;
  const kind = reading.is === "error" ? outcomeOf(reading, errors).kind : undefined;
  if (kind === "unauthenticated") keys.refused(key);
  else if (kind !== "unavailable" && kind !== "unknown") keys.accepted(key);
};

/** Looks where the truth stands, when legacy's error does not tell it. */
const recover = async (
  services: FetchServices,
  endpoint: PreparedEndpoint,
  caller: Caller,
  input: Input,
): Promise<LegacyResult | undefined> => {
  const look = endpoint.recover?.look(input);
  if (!look || "unsent" in look) return undefined;
  const task: ReadTask = { endpoint: endpoint.name, as: "settled", input };
  const reply = await askEither(services, endpoint, look, caller, (one) => readBy(services, task, one, caller));
  if ("failed" in reply) return undefined;
  const { reading } = reply;
  if (reading.is === "error" && endpoint.recover?.errors?.has(reading.code))
    return { outcome: endpoint.recover.outcome?.(input, {}) ?? outcomeOf(reading, services.errors) };
  return reading.is !== "document" || "mismatch" in reading ? undefined : reading;
};
