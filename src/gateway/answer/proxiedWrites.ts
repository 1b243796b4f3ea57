import { mediaType } from "../upstream/answerHeaders.ts";
import type { IncomingMessage } from "node:http";
import { allOf } from "../../operation/index.ts";
import {
  added,
  amended,
  changed,
  errorCodeIn,
  fateByCode,
  type FieldReader,
  fieldReader,
  isFrontsError,
  isOneOf,
  isSafeMethod,
  legacyKeyOf,
  type LegacyTarget,
  type LegacyWrite,
  type LegacyWriteKnowledge,
  type Touched,
  withoutFormat,
} from "../../catalogue/index.ts";
import { type Beginning, plainBody } from "../upstream/answerBeginning.ts";
import type { PassThroughOptions } from "../proxy/passThrough.ts";
import type { Additions } from "./additions.ts";
import type { WholeCore } from "./core.ts";
import type { WriteFate } from "./answerFunctions.ts";
import { UNCONFIRMED_MS } from "./unconfirmedWrites.ts";

type WritingCore = Pick<WholeCore, "cache" | "unconfirmed"> & Pick<Additions, "writes">;

/**
 * Observes requests that are passed through: writes invalidate cached answers, and features see all
 * bodies, which may hold a key.
 */
export const observePassThrough =
  (
    core: WritingCore,
    observers: Additions["onLegacyBody"],
    legacyWrites: LegacyWriteKnowledge,
  ): NonNullable<PassThroughOptions["observe"]> =>
  (exchange, req) => {
    const { method = "GET" } = req;
    const legacy = isSafeMethod(method) ? undefined : exchange.target;
    if (legacy === undefined) return undefined;
    const write = exchange.kind === "write" ? proxiedWrite(legacyWrites, method, legacy) : undefined;
    const collected = write ?? (method === "GET" || observers.length === 0 ? undefined : collectBeginning());
    if (collected === undefined) return undefined;
    return {
      chunk: collected.chunk,
      over(answer, isSent) {
        for (const onBody of observers) onBody(req, collected.body());
        if (write === undefined || !isSent || !req.complete) return undefined;
        return invalidate(core, legacy, req, write, answer, fateOf(answer, legacyWrites.refusals));
      },
    };
  };

/**
 * Invalidates what a write touched. A write with a key counts unless it was refused. Without a key it counts
 * only if its answer is no error, and it has a session or a body too long to be searched for a key. Otherwise
 * anybody could empty the cache.
 */
const invalidate = (
  { cache, unconfirmed, writes }: WritingCore,
  { path }: LegacyTarget,
  req: IncomingMessage,
  write: ProxiedWrite,
  answer: Beginning | undefined,
  fate: WriteFate,
): Promise<void> | undefined => {
  if (fate === "refused") return undefined;
  const touched = write.touched();
  const { groups } = touched;
  const onWrite = (hold?: { hold: number }) => {
    const answerText = () => (hold || answer === undefined ? undefined : plainBody(answer).toString("latin1"));
    return writes.onWrite({ groups, ...hold, proxied: { path, named: write.named(), answerText } });
  };
  const key = write.key(req.headers["content-type"]);
  if (fate === "unknown")
    return unconfirmed.note(key, () =>
      allOf([onWrite({ hold: UNCONFIRMED_MS }), cache.invalidate({ groups, soft: true, hold: UNCONFIRMED_MS })]),
    );
  const isError = answer === undefined || answer.status >= 300;
  if (key === undefined && (isError || !(hasSession(req) || write.isCut()))) return undefined;
  return allOf([onWrite(), cache.invalidate(touched)]);
};

/** Legacy's website logs people in by this cookie, and its interface then knows them. */
const hasSession = ({ headers }: IncomingMessage): boolean => /(?:^|[;\s])ci_session=[^;\s]/.test(headers.cookie ?? "");

/** Bytes of a body that are looked at for the key and for the fields that say what is written. */
const LOOKED_AT = 64 * 1024;
/** Entities that one write names at most; one that names more is about everything of its kind. */
export const MAX_NAMED = 100;

type CollectedBody = {
  chunk: (bytes: Buffer) => void;
  /** In latin1. */
  body: () => string;
  /** The body is longer than what is looked at: a key may stand behind it. */
  isCut: () => boolean;
};

/** A proxied request that may write. Its body is read when one of the members asks for it. */
type ProxiedWrite = CollectedBody & {
  /** The key that it comes with; `contentType` is its body's. */
  key: (contentType: string | undefined) => string | undefined;
  touched: () => Touched;
  /** The entities that it names, whatever else it touches. */
  named: () => string[];
};

/** What a write to legacy's interface writes; `undefined` where no answer of ours depends on that. */
export const proxiedWrite = (
  { writes, amendments }: Pick<LegacyWriteKnowledge, "writes" | "amendments">,
  method: string,
  target: LegacyTarget,
): ProxiedWrite | undefined => {
  const { query } = target;
  const segments = withoutFormat(target);
  const type = segments[0] ?? "";
  const write = Object.hasOwn(writes, type) ? writes[type] : undefined;
  if (write === undefined) return undefined;
  const gone = method === "DELETE" ? (write.deletes ?? []).flatMap((kind) => changed(kind, []).groups) : [];
  if (write.kind === undefined && gone.length === 0) return undefined;

  const collected = collectBeginning();
  let ids: NamedIds | undefined;
  const idsNamed = () => (ids ??= idsIn(write, segments, query, collected));
  return {
    ...collected,
    key: (contentType) => legacyKeyOf(query, contentType, collected.body()),
    named: () => (write.kind === undefined ? [] : idsNamed().all.map((id) => `${write.kind}/${Number(id)}`)),
    touched() {
      if (write.kind === undefined) return { groups: gone };
      const { all, isCertain, isNone } = idsNamed();
      if (method === "POST" && segments.length === 1 && isNone) return added(write.adds ?? [write.kind]);
      // Where the entity is not certain, it may be any of its kind.
      const numbers = isCertain ? all.map(Number) : [];
      if (method === "POST" && isOneOf(amendments, segments)) return amended(write.kind, numbers);
      return { groups: [...changed(write.kind, numbers).groups, ...gone] };
    },
  };
};

/** Collects the beginning of a body in one block, however small the parts in which it comes. */
const collectBeginning = (): CollectedBody => {
  let block = Buffer.alloc(0);
  let size = 0;
  let isCut = false;
  let text: string | undefined;
  return {
    chunk(bytes) {
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
    body: () => (text ??= block.toString("latin1", 0, size)),
    isCut: () => isCut,
  };
};

const readers = new WeakMap<LegacyWrite, FieldReader>();
const readerOf = (write: Extract<LegacyWrite, { kind: string }>): FieldReader => {
  const reader = readers.get(write) ?? fieldReader(write.fields);
  readers.set(write, reader);
  return reader;
};

/**
 * Ids that a request names, each once. `isCertain`: these are all of them. `isNone`: what was looked at names
 * none, whatever follows it.
 */
type NamedIds = { all: string[]; isCertain: boolean; isNone: boolean };

const idsIn = (
  write: LegacyWrite,
  segments: readonly string[],
  query: string,
  { body, isCut }: CollectedBody,
): NamedIds => {
  if (write.kind === undefined) return { all: [], isCertain: true, isNone: true };
  const reader = readerOf(write);
  const sources = [reader.inForm(query), reader.inForm(body()), reader.inParts(body()), reader.inXml(body())];
  const texts = [
    ...segments.slice(1).filter((segment) => /^\d+$/.test(segment)),
    ...sources.flatMap(({ values }) => values.map(({ value }) => value.trim())),
  ];
  const all = [...new Set(texts.filter(isId).map((id) => String(Number(id))))];
  const isCertain = !isCut() && sources.every(({ isWhole }) => isWhole) && texts.every(isId) && all.length <= MAX_NAMED;
  return { all: all.slice(0, MAX_NAMED), isCertain, isNone: texts.length === 0 };
};

const isId = (text: string): boolean => /^\d{1,15}$/.test(text);

/**
 * What became of a write, by its answer. `refusals`: the codes of errors that legacy raises before it reads
 * a request, always as XML.
 */
export const fateOf = (answer: Beginning | undefined, refusals: ReadonlySet<number>): WriteFate => {
  if (answer === undefined) return "unknown";
  const { status } = answer;
  const type = mediaType(answer.headers);
  // A page is not legacy's interface: its front refuses by 4xx; one of another status may be
  // what PHP wrote as it broke.
  const isPage = /^text\/html\b/i.test(type);
  if (status < 300) return isPage ? "unknown" : refusedIn(answer, type, refusals) ? "refused" : "written";
  if (status < 400) return "refused";
  if (isPage) return status < 500 ? "refused" : "unknown";
  const code = errorCodeOf(answer);
  const byGateway = fateByCode(code);
  if (byGateway !== undefined) return byGateway;
  // Legacy's errors have a code; only legacy sends 412 and 450.
  const isOwn = status === 412 || status === 450 || (code !== undefined && !isFrontsError(status, code));
  if (!isOwn) return status < 500 ? "refused" : "unknown";
  return isXml(type) && refusals.has(Number(code)) ? "refused" : "written";
};

const isXml = (type: string): boolean => type.startsWith("text/xml");

/** Whether an answer is an XML error of legacy's with one of these codes. */
export const refusedIn = (answer: Beginning, type: string, refusals: ReadonlySet<number>): boolean =>
  isXml(type) && refusals.has(Number(errorCodeOf(answer)));

/** The code of legacy's error; `undefined` where the answer is no error. */
export const errorCodeOf = (answer: Beginning): string | undefined =>
  errorCodeIn(plainBody(answer).toString("latin1", 0, 1024));
