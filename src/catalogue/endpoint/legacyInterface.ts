import type { DeclaredLifetimes } from "./lifetimes.ts";

/**
 * The paths of legacy's interface on its server: the documented path, and others that reach the same handlers.
 * `frontController`: the script that serves all of them. The interface's path may also follow the path of that script,
 * or stand in the query. `longWords`: words of its paths that are as long as a key. `files`: matches the paths of data
 * files, which lie outside the interface.
 */
export type LegacyPaths = {
  interfaces: readonly string[];
  frontController: string;
  longWords: readonly string[];
  files: RegExp;
};

/**
 * The entities that writes of one type change: those of a kind that `fields` name. `adds`: the kinds that a POST to the
 * type itself adds to, if it changes no other entity. `deletes`: the kinds whose entities may change or disappear when
 * such an entity is deleted.
 */
export type LegacyWrite = ({ kind: string; fields: readonly string[]; adds?: readonly string[] } | { kind?: never }) & {
  deletes?: readonly string[];
};

/** The requests that write, by their path below the interface's path, without the format: `/data/tag`. */
export type LegacyWriteKnowledge = {
  /** By the type in their path: `POST /api/v1/json/data/tag` is of type `data`. */
  writes: Readonly<Record<string, LegacyWrite>>;
  /** POSTs that write nothing. */
  reads: readonly RegExp[];
  /** GETs that write. */
  writingGets: readonly RegExp[];
  /** POSTs after which cached lists are good enough while legacy fails. */
  amendments: readonly RegExp[];
  /** Codes of errors that legacy raises before it reads the request, always as XML. */
  refusals: ReadonlySet<number>;
};

/** A read of legacy's interface that has no endpoint: its answers are cached as bytes, which are not parsed. */
export type OpaqueRead = {
  /** Its name in logs and purges. */
  name: string;
  /** Matches the path below the interface's path, without the format: `/task/inputs/59`. */
  path: RegExp;
  lifetimes: DeclaredLifetimes;
  /** The groups of an answer, by the texts that `path` matched. `isFound`: the answer is not an error. */
  groups: (isFound: boolean, ...texts: string[]) => string[];
  /** It asks for rows; there may be no rows. */
  isList?: true;
  /** The path's last segment names entries; their order and repetitions do not change the answer. */
  isUnordered?: true;
};
