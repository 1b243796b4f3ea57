/**
 * The cache groups (RFC 9875) of an answer about a single entity: `dataset/61`, and `dataset` for all entities. A 404
 * (`found` false) also has `datasets`, as lists have. A write invalidates by these names.
 */
export const entity = (kind: string, id: number | string, found = true): string[] =>
  found ? [`${kind}/${id}`, kind] : [`${kind}/${id}`, kind, collection(kind)];

/** The group of a kind's lists: `dataset` -> `datasets`. */
export const collection = (kind: string): string => (kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`);

/**
 * The groups that a write invalidates. `lists`: those of them whose cached lists are good enough while legacy fails.
 */
export type Touched = { groups: readonly string[]; lists?: readonly string[] };

/** The write changed these ids; without an id, every entity of the kind. */
export const changed = (kind: string, ids: readonly (number | string)[]): Touched => ({
  groups: [...(ids.length === 0 ? [kind] : ids.map((id) => `${kind}/${id}`)), collection(kind)],
});

/** The write changed these ids in values that lists hardly show, such as a tag or an evaluation. */
export const amended = (kind: string, ids: readonly (number | string)[]): Touched => ({
  ...changed(kind, ids),
  lists: [collection(kind)],
});

/** The write added entities of these kinds: a cached list lacks a row at most, and a cached 404 may be wrong now. */
export const added = (kinds: readonly string[]): Touched => {
  const lists = kinds.map(collection);
  return { groups: lists, lists };
};
