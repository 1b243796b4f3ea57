import type { DeclaredLifetimes } from "./lifetimes.ts";

/**
 * The paths of legacy's interface on its server: the documented one and others that reach the same handlers.
 * `frontController`: the script that serves all of them. The interface's path may also follow that script's, or stand
 * in the query. `longWords`: words of its paths that are as long as a key. `files`: matches the paths of data files,
 * which lie outside of the interface.
 */
export type LegacyPaths = {
  interfaces: readonly string[];
  frontController: string;
  longWords: readonly string[];
  files: RegExp;
};

/**
 * What writes of one type change: the entities of a kind that `fields` name. `adds`: the kinds that a POST
 * to the type itself adds to, if it changes no other entity. `deletes`: the kinds whose entities may change
 * or go when one is deleted.
 */
export type LegacyWrite = ({ kind: string; fields: readonly string[]; adds?: readonly string[] } | { kind?: never }) & {
  deletes?: readonly string[];
};

/** The writes of the legacy interface, by the type in their path: `POST /api/v1/json/data/tag` is of type `data`. */
export type LegacyWrites = Readonly<Record<string, LegacyWrite>>;

/** What is known of requests that write, by their path below the interface's, without the form: `/data/tag`. */
export type LegacyWriteKnowledge = {
  writes: LegacyWrites;
  /** POSTs that write nothing. */
  reads: readonly RegExp[];
  /** GETs that write. */
  writingGets: readonly RegExp[];
  /** POSTs whose lists are still right enough while legacy fails. */
  amendments: readonly RegExp[];
  /** Codes of errors that legacy raises before it reads the request, always as XML. */
  refusals: ReadonlySet<number>;
};

/** A read of legacy's interface that no endpoint has: its answers are stored by their bytes, which nothing reads. */
export type OpaqueRead = {
  /** As logs and purges name it. */
  name: string;
  /** Matches the path below the interface's, without the form: `/task/inputs/59`. */
  path: RegExp;
  lifetimes: DeclaredLifetimes;
  /** The groups of an answer, by the texts that `path` matched. `isFound`: it is no error. */
  groups: (isFound: boolean, ...texts: string[]) => string[];
  /** It asks for rows, of which there may be none. */
  isList?: true;
  /** The path's last segment names entries, whose order and repetitions change nothing in the answer. */
  isUnordered?: true;
};
