import { type Answered, groupList } from "../cache/reply.ts";
import { allOf } from "../concurrency/allOf.ts";
import { type Answer, answerOf } from "../endpoint/answer.ts";
import { collection, written } from "../endpoint/groups.ts";
import type { LegacyWrite, LegacyWriteKnowledge } from "../endpoint/legacyInterface.ts";
import type { OutcomeKind } from "../endpoint/outcome.ts";
import type { Caller } from "../legacy/client.ts";
import { type FieldReader, fieldReader, legacyKeyOf } from "../legacy/formFields.ts";
import type { LegacyTarget } from "../legacy/legacyTarget.ts";
import { outcomeOf } from "../legacy/reading.ts";
import { type Beginning, plainBody } from "../proxy/heldAnswer.ts";
import { type EndpointRequest, uncached } from "./backend.ts";
import { fetchReadable, noAnswer, type Unanswered } from "./legacyFetch.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import type { Services } from "./feature.ts";
import { UNCONFIRMED_MS } from "./unconfirmedWrites.ts";

// What a write invalidates, whichever way it went: by the new interface, or through to legacy's own.

// Writes of the new interface.

/**
 * The answer to a write that a backend has made. What the write may have touched is invalidated before the answer goes out. Where the
 * answer is lost, cached entries are served only while legacy fails. A write that was refused, or cannot have been sent, changes nothing.
 */
export const confirmWrite = async (
  services: Services,
  { endpoint, input }: Pick<EndpointRequest, "endpoint" | "input">,
  caller: Caller,
  { answer, unanswered }: { answer: Answer; unanswered?: Unanswered },
): Promise<Answered> => {
  const answered = uncached(answer, "method");
  // Otherwise anybody could empty the cache.
  if (unanswered === "refused" || answer.status === 401 || answer.status === 403) return answered;
  const groups = endpoint.writes?.(input) ?? [];
  const invalidate = (isLost: boolean): Promise<void> | undefined =>
    allOf([
      services.hooks.onWrite({ groups, isLost }),
      services.cache.invalidate({ groups, ...(isLost ? { soft: true, hold: UNCONFIRMED_MS } : {}) }),
    ]);
  await (unanswered === "unknown" ? services.unconfirmed.note(caller.key, () => invalidate(true)) : invalidate(false));
  return answer.status === 200 ? { ...answered, headers: ["Cache-Group-Invalidation", groupList(groups)] } : answered;
};

/** An answer that is cached for a caller shows for so many milliseconds what the caller may read. */
const MAX_AGE_OF_ACCESS = 60_000;

/** Results of a read that leave the write to legacy: access is granted, or what is written cannot be private. */
const passes: ReadonlySet<OutcomeKind> = new Set(["notFound", "badState", "refused", "gone", "conflict"]);

/**
 * Reads what a write is about with the caller's key, where the endpoint says that legacy itself does not check access. The result is the
 * refusal, or the failure to find out; `undefined` where the write may be sent.
 */
export const refusedAccess = async (
  services: Services,
  { mustRead }: PreparedEndpoint,
  input: Record<string, unknown>,
  caller: Caller,
): Promise<Answer | undefined> => {
  if (mustRead === undefined) return undefined;
  const { endpoint } = mustRead;
  const readInput = mustRead.inputOf(input);
  if (isCachedFor(services, endpoint, readInput, caller.key)) return undefined;
  const request = endpoint.legacy(readInput);
  if ("unsent" in request) return answerOf({ kind: "broken", message: request.unsent });
  const reply = await fetchReadable(services, endpoint, request, caller);
  if ("failed" in reply) return answerOf(reply.failed);
  const { reading, status } = reply;
  if (reading.is === "document" && status === 200) return undefined;
  if (reading.is !== "error") return answerOf(noAnswer);
  const outcome = endpoint.errors?.[reading.code] ?? outcomeOf(reading, services.errors);
  return passes.has(outcome.kind) ? undefined : answerOf(outcome);
};

/** This caller, or everybody, was shown the document a moment ago. */
const isCachedFor = (
  { keys, cache }: Services,
  { cacheKey }: PreparedEndpoint,
  input: Record<string, unknown>,
  key: string | undefined,
): boolean => {
  const owner = key === undefined ? undefined : keys.ownerOf(key);
  if (cacheKey === undefined || owner === undefined || !keys.isProven(owner)) return false;
  const request = { cacheKey: cacheKey(input), owner, wanted: { maxAge: MAX_AGE_OF_ACCESS } };
  const found = cache.lookUp(request, Date.now());
  return found?.freshness === "fresh" && found.entry.status === 200;
};

// Writes that pass through.

/** Bytes of a body that are looked at for the key and for the fields that say what is written. */
const LOOKED_AT = 64 * 1024;
/** Entities that one write names at most; one that names more is about everything of its kind. */
export const MAX_NAMED = 100;

const safe = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** A proxied request that may write. Its body is read when one of the members asks for it. */
export type PassingWrite = {
  chunk: (bytes: Buffer) => void;
  /** The key that it comes with; `contentType` is its body's. */
  key: (contentType: string | undefined) => string | undefined;
  /** The body is longer than what is looked at: a key may stand behind it. */
  isCut: () => boolean;
  /** The groups that it touches. */
  groups: () => string[];
  /** The entities that it names, whatever else it touches. */
  named: () => string[];
  /** The beginning of its body (latin1). */
  body: () => string;
};

/** What a request to legacy's interface writes; `undefined` where nothing that answers are about. */
export const passingWrite = (
  { writes, reads }: LegacyWriteKnowledge,
  method: string,
  { segments: given, query }: LegacyTarget,
): PassingWrite | undefined => {
  if (safe.has(method)) return undefined;
  const segments = given[0] === "json" || given[0] === "xml" ? given.slice(1) : given;
  const type = segments[0] ?? "";
  const write = Object.hasOwn(writes, type) ? writes[type] : undefined;
  if (write === undefined || reads.some((read) => read.test(`/${segments.join("/")}`))) return undefined;
  const gone = method === "DELETE" ? (write.deletes ?? []).flatMap((kind) => written(kind, [])) : [];
  if (write.kind === undefined && gone.length === 0) return undefined;

  const collected = collectBeginning();
  let ids: { all: string[]; isCertain: boolean } | undefined;
  const idsNamed = () => (ids ??= idsIn(write, segments, query, collected));
  return {
    chunk: collected.add,
    key: (contentType) => legacyKeyOf(query, contentType, collected.text()),
    isCut: collected.isCut,
    body: collected.text,
    named: () => (write.kind === undefined ? [] : idsNamed().all.map((id) => `${write.kind}/${Number(id)}`)),
    groups() {
      if (write.kind === undefined) return gone;
      if (write.adds !== undefined && method === "POST" && segments.length === 1) return write.adds.map(collection);
      const { all, isCertain } = idsNamed();
      // Where the entity is not certain, it may be any of its kind.
      return [...written(write.kind, isCertain ? all.map(Number) : []), ...gone];
    },
  };
};

type CollectedBody = { add: (bytes: Buffer) => void; text: () => string; isCut: () => boolean };

/** The beginning of a body in one block, however small the parts in which it comes. */
const collectBeginning = (): CollectedBody => {
  let block = Buffer.alloc(0);
  let size = 0;
  let isCut = false;
  let text: string | undefined;
  return {
    add(bytes) {
      const wanted = Math.min(size + bytes.length, LOOKED_AT);
      isCut ||= size + bytes.length > LOOKED_AT;
      if (wanted === size) return;
      if (wanted > block.length) {
        const larger = Buffer.alloc(Math.min(LOOKED_AT, Math.max(wanted, 2 * block.length)));
        block.copy(larger, 0, 0, size);
        block = larger;
      }
      bytes.copy(block, size, 0, wanted - size);
      size = wanted;
      text = undefined;
    },
    text: () => (text ??= block.toString("latin1", 0, size)),
    isCut: () => isCut,
  };
};

const readers = new WeakMap<LegacyWrite, FieldReader>();
const readerOf = (write: Extract<LegacyWrite, { kind: string }>): FieldReader => {
  const reader = readers.get(write) ?? fieldReader(write.fields);
  readers.set(write, reader);
  return reader;
};

/** The ids that a request names, in its path, query or body, each once; whether these are all of them for certain. */
const idsIn = (
  write: LegacyWrite,
  segments: readonly string[],
  query: string,
  { text, isCut }: CollectedBody,
): { all: string[]; isCertain: boolean } => {
  if (write.kind === undefined) return { all: [], isCertain: true };
  const reader = readerOf(write);
  const found = [reader.inForm(query), reader.inForm(text()), reader.inParts(text()), reader.inXml(text())];
  const given = [
    ...segments.slice(1).filter((segment) => /^\d+$/.test(segment)),
    ...found.flatMap(({ values }) => values.map(({ value }) => value.trim())),
  ];
  const all = [...new Set(given.filter(isId).map((id) => String(Number(id))))];
  const isCertain = !isCut() && found.every(({ isWhole }) => isWhole) && given.every(isId) && all.length <= MAX_NAMED;
  return { all: all.slice(0, MAX_NAMED), isCertain };
};

const isId = (text: string): boolean => /^\d{1,15}$/.test(text);

/**
 * What legacy's answer says of a write that passed through. `written`: legacy has looked at it, and what it is about may have changed. `unknown`:
 * it broke off or failed, before or after. `refused`: nothing was written.
 */
export type WriteFate = "written" | "unknown" | "refused";

/** What became of a write, by its answer. `refusals`: the codes of errors that legacy raises before it reads a request, always as XML. */
export const fateOf = (answer: Beginning | undefined, refusals: ReadonlySet<number>): WriteFate => {
  if (answer === undefined) return "unknown";
  const { status } = answer;
  const type = answer.headers["content-type"] ?? "";
  // A page is not legacy's interface: its front refuses by 4xx; one of another status may be what PHP wrote as it broke.
  const isPage = /^text\/html\b/i.test(type);
  if (status < 300) return isPage ? "unknown" : refusedIn(answer, type, refusals) ? "refused" : "written";
  if (status < 400) return "refused";
  if (isPage) return status < 500 ? "refused" : "unknown";
  // Legacy's own errors have a code, whatever their status; only legacy sends 412 and 450.
  const isOwn = status === 412 || status === 450 || hasCode(answer);
  if (!isOwn) return status < 500 ? "refused" : "unknown";
  return refusedIn(answer, type, refusals) ? "refused" : "written";
};

const hasCode = (answer: Beginning): boolean =>
  /^\s*\{\s*"error"\s*:\s*\{\s*"code"|^\s*(?:<\?xml[^>]{0,100}>\s*)?<oml:error/.test(beginningOf(answer));

const refusedIn = (answer: Beginning, type: string, refusals: ReadonlySet<number>): boolean => {
  if (!type.startsWith("text/xml")) return false;
  const found = /^\s*(?:<\?xml[^>]{0,100}>\s*)?<oml:error[^>]{0,200}>\s*<oml:code>\s*(\d{1,6})\s*</.exec(
    beginningOf(answer),
  );
  return found?.[1] !== undefined && refusals.has(Number(found[1]));
};

const beginningOf = (answer: Beginning): string => plainBody(answer).toString("latin1", 0, 4096);
