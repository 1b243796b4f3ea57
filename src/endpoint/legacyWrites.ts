/** What writes by the legacy interface are about, by the type in its path: `POST /api/v1/json/data/tag` is `data`. */
export type LegacyWrites = Readonly<
  Record<string, { kind: string; fields: readonly string[] } | { kind: string; addsOnly: true }>
>;

export type LegacyWriteKnowledge = { writes: LegacyWrites; reads: readonly RegExp[] };
