import { mediaType } from "../upstream/answerHeaders.ts";
import type { IncomingMessage } from "node:http";
import { allOf } from "../../operation/index.ts";
import {
  added,
  amended,
  changed,
  errorCodeIn,
  fateByCode,
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
  onceForEach,
} from "../../catalogue/index.ts";
import { type Beginning, plainBody } from "../upstream/answerBeginning.ts";
import type { PassThroughOptions } from "../proxy/passThrough.ts";
import type { Additions } from "./additions.ts";
import type { WholeCore } from "./core.ts";
import type { WriteFate } from "./answerFunctions.ts";
import { UNCONFIRMED_MS } from "./unconfirmedWrites.ts";

type WritingCore = Pick<WholeCore, "cache" | "unconfirmed"> & Pick<Additions, "writes">;

/**
 * Observes proxied requests: writes invalidate cached answers, and features get the beginning of each body, which may
 * hold a key.
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
 * Invalidates the entries that a write has changed. A write with a key counts unless it was refused. Without a key it
 * counts only if its answer is not an error, and it has a session or a body too long to be searched for a key.
 * Otherwise any client could empty the cache.
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

/** True if the request has the cookie of a login on legacy's website, which legacy's interface also accepts. */
const hasSession = ({ headers }: IncomingMessage): boolean => /(?:^|[;\s])ci_session=[^;\s]/.test(headers.cookie ?? "");

/** Bytes of a body that are searched for the key, and for the fields that name the written entities. */
const SCANNED_BYTES = 64 * 1024;
/** The maximum number of entities that a write names; with more, it counts as a write to all entities of the kind. */
export const MAX_NAMED = 100;

type CollectedBody = {
  chunk: (bytes: Buffer) => void;
  /** The collected bytes as latin1. */
  body: () => string;
  /** True if the body is longer than the collected bytes: the rest may have a key. */
  isCut: () => boolean;
};

/** A proxied request that may write. Its body is parsed when a member needs it. */
type ProxiedWrite = CollectedBody & {
  /** The request's key. `contentType`: the body's type. */
  key: (contentType: string | undefined) => string | undefined;
  touched: () => Touched;
  /** The entities that the request names; it may change others, too. */
  named: () => string[];
};

/** Reads a write to legacy's interface; `undefined` if no answer of the gateway depends on it. */
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
      // If the entities are not certain, the write may change any entity of the kind.
      const numbers = isCertain ? all.map(Number) : [];
      if (method === "POST" && isOneOf(amendments, segments)) return amended(write.kind, numbers);
      return { groups: [...changed(write.kind, numbers).groups, ...gone] };
    },
  };
};

/** Collects the beginning of a body in a single block, even if it comes in many small chunks. */
const collectBeginning = (): CollectedBody => {
  let block = Buffer.alloc(0);
  let size = 0;
  let isCut = false;
  let text: string | undefined;
  return {
    chunk(bytes) {
      const wanted = Math.min(size + bytes.length, SCANNED_BYTES);
      isCut ||= size + bytes.length > SCANNED_BYTES;
      if (wanted === size) return;
      if (wanted > block.length) {
        const larger = Buffer.alloc(Math.min(SCANNED_BYTES, Math.max(wanted, 2 * block.length)));
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

const readerOf = onceForEach((fields: readonly string[]) => fieldReader(fields));

/**
 * The ids that a request names, each once. `isCertain`: the list is complete. `isNone`: the part of the request that
 * was read names no id; the rest may.
 */
type NamedIds = { all: string[]; isCertain: boolean; isNone: boolean };

const idsIn = (
  write: LegacyWrite,
  segments: readonly string[],
  query: string,
  { body, isCut }: CollectedBody,
): NamedIds => {
  if (write.kind === undefined) return { all: [], isCertain: true, isNone: true };
  const reader = readerOf(write.fields);
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
 * Says by its answer if a write was performed. `refusals`: the codes of errors that legacy raises before it reads a
 * request, always as XML.
 */
export const fateOf = (answer: Beginning | undefined, refusals: ReadonlySet<number>): WriteFate => {
  if (answer === undefined) return "unknown";
  const { status } = answer;
  const type = mediaType(answer.headers);
  // A page does not come from legacy's interface. With a 4xx it is a refusal by the front. With any other status, PHP
  // may have written it when it failed.
  const isPage = /^text\/html\b/i.test(type);
  if (status < 300) return isPage ? "unknown" : refusedIn(answer, type, refusals) ? "refused" : "written";
  if (status < 400) return "refused";
  if (isPage) return status < 500 ? "refused" : "unknown";
  const code = errorCodeOf(answer);
  const byGateway = fateByCode(code);
  if (byGateway !== undefined) return byGateway;
  // Errors of legacy have a code, and only legacy sends 412 and 450.
  const isOwn = status === 412 || status === 450 || (code !== undefined && !isFrontsError(status, code));
  if (!isOwn) return status < 500 ? "refused" : "unknown";
  return isXml(type) && refusals.has(Number(code)) ? "refused" : "written";
};

const isXml = (type: string): boolean => type.startsWith("text/xml");

/** True if an answer is an XML error of legacy with a code of `refusals`. */
export const refusedIn = (answer: Beginning, type: string, refusals: ReadonlySet<number>): boolean =>
  isXml(type) && refusals.has(Number(errorCodeOf(answer)));

/** The code of legacy's error; `undefined` if the answer is not an error. */
export const errorCodeOf = (answer: Beginning): string | undefined =>
  errorCodeIn(plainBody(answer).toString("latin1", 0, 1024));
