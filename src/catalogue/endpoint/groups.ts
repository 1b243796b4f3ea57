/**
 * The cache groups (RFC 9875) of an answer about one entity: `dataset/61`, and `dataset` for every one. A 404 (`found`
 * false) also has `datasets`, as lists have. A write invalidates by these names.
 */
export const entity = (kind: string, id: number | string, found = true): string[] =>
  found ? [`${kind}/${id}`, kind] : [`${kind}/${id}`, kind, collection(kind)];

/** The group of a kind's lists: `dataset` -> `datasets`. */
export const collection = (kind: string): string => (kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`);

/**
 * What a write touches: the groups that it invalidates. `lists`: those of them whose lists are still right
 * enough while legacy fails.
 */
export type Touched = { groups: readonly string[]; lists?: readonly string[] };

/** These ids were changed; every entity of the kind where there is no id. */
export const changed = (kind: string, ids: readonly (number | string)[]): Touched => ({
  groups: [...(ids.length === 0 ? [kind] : ids.map((id) => `${kind}/${id}`)), collection(kind)],
});

/** These ids were changed in what lists show little of, such as a tag or an evaluation. */
export const amended = (kind: string, ids: readonly (number | string)[]): Touched => ({
  ...changed(kind, ids),
  lists: [collection(kind)],
});

/** Entities of these kinds were added: lists lack a row at most, and what was not found may be there. */
export const added = (kinds: readonly string[]): Touched => {
  const lists = kinds.map(collection);
  return { groups: lists, lists };
};
