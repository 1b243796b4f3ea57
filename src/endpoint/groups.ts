/**
 * Names of what an answer is about (RFC 9875): `dataset/61` is one entity, `dataset` every single one, `datasets` what says which there
 * are (lists, and that one does not exist). A write drops what it touched by these names.
 */
export const entity = (kind: string, id: number | string, found = true): string[] =>
  found ? [`${kind}/${id}`, kind] : [`${kind}/${id}`, kind, collection(kind)];

export const collection = (kind: string): string => (kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`);

/** What a write touches; every one of its kind where it does not say which. */
export const written = (kind: string, ids: readonly (number | string)[]): string[] => [
  ...(ids.length === 0 ? [kind] : ids.map((id) => `${kind}/${id}`)),
  collection(kind),
];
