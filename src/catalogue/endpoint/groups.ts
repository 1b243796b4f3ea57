/**
 * The cache groups (RFC 9875) of an answer about one entity: `dataset/61`, and `dataset` for every one. A 404 (`found` false) also
 * has `datasets`, as lists have. A write invalidates by these names.
 */
export const entity = (kind: string, id: number | string, found = true): string[] =>
  found ? [`${kind}/${id}`, kind] : [`${kind}/${id}`, kind, collection(kind)];

/** The group of a kind's lists: `dataset` -> `datasets`. */
export const collection = (kind: string): string => (kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`);

/** The groups that a write of these ids invalidates; every entity of the kind where there is no id. */
export const written = (kind: string, ids: readonly (number | string)[]): string[] => [
  ...(ids.length === 0 ? [kind] : ids.map((id) => `${kind}/${id}`)),
  collection(kind),
];
