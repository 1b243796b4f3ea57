/** What writes by the legacy interface are about, by the type in its path: `POST /api/v1/json/data/tag` is `data`. */
export type LegacyWrites = Readonly<
  Record<string, { kind: string; fields: readonly string[] } | { kind: string; addsOnly: true }>
>;

/** `refusals`: codes of errors that legacy raises before it looks at what is asked, always as XML. */
export type LegacyWriteKnowledge = { writes: LegacyWrites; reads: readonly RegExp[]; refusals: ReadonlySet<number> };
