/**
 * Where legacy's interface begins on its server, as a path: the documented one and others that reach the same handlers. `frontController`: the
 * script that all of them run through; the interface's path may also stand behind it, or in the query of either.
 */
export type LegacyPaths = { interfaces: readonly string[]; frontController: string };

/**
 * What writes of one type are about: entities of a kind, told by the fields that say which; or one more of a kind. `deletes`: kinds of which any
 * may go or change with one that is deleted.
 */
export type LegacyWrite = (
  | { kind: string; fields: readonly string[] }
  | { kind: string; addsOnly: true }
  | { kind?: never }
) & {
  deletes?: readonly string[];
};

/** What is written by the legacy interface, by the type in its path: `POST /api/v1/json/data/tag` is `data`. */
export type LegacyWrites = Readonly<Record<string, LegacyWrite>>;

/** `refusals`: codes of errors that legacy raises before it looks at what is asked, always as XML. */
export type LegacyWriteKnowledge = { writes: LegacyWrites; reads: readonly RegExp[]; refusals: ReadonlySet<number> };
