import { collection, written } from "../endpoint/groups.ts";
import type { LegacyWrite, LegacyWriteKnowledge } from "../endpoint/legacyInterface.ts";
import { type FieldReader, fieldReader, legacyKeyOf } from "../legacy/formFields.ts";
import type { LegacyTarget } from "../legacy/legacyTarget.ts";

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

type Beginning = { add: (bytes: Buffer) => void; text: () => string; isCut: () => boolean };

/** The beginning of a body in one block, however small the parts in which it comes. */
const collectBeginning = (): Beginning => {
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
  { text, isCut }: Beginning,
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
