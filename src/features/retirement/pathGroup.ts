/** Segments below the legacy path that identify a function: `json/data/list`. */
const MAX_SEGMENTS = 3;

/** The interface's own names are words. Other segments are values: ids, names, perhaps keys. */
const isWord = (segment: string): boolean => /^[a-z][a-z_.-]{0,23}$/i.test(segment);

/** `/api/v1/json/data/61/x` -> `/api/v1/json/data/{id}` */
export const pathGroup = (path: string, legacyPath: string): string => {
  const segments = path.slice(legacyPath.length + 1).split("/", MAX_SEGMENTS);
  let group = legacyPath;
  for (const segment of segments) if (segment !== "") group += isWord(segment) ? `/${segment}` : "/{id}";
  return group === "" ? "/" : group;
};
