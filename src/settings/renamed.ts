/** A value that was given for a setting, and where: `from` is "in the environment" or "in <file>". */
export type GivenSetting = { value: unknown; from: string };

type Renamed = { name: string; convert: (value: unknown) => unknown; about: string };

const lifetimeFields: Readonly<Record<string, string>> = {
  stale: "staleWhileRevalidate",
  absent: "notFoundTtl",
  unready: "preconditionTtl",
};

const mapEntries = (value: unknown, map: (name: string, value: unknown) => [string, unknown]): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => map(name, one)))
    : value;

/** Settings by their old names, which still work. `convert` translates the value, `about` says in a warning what changed in it. */
export const renamedSettings: Readonly<Record<string, Renamed>> = {
  CACHE_WINDOWS: {
    name: "CACHE_LIFETIMES",
    convert: (value) =>
      mapEntries(value, (endpoint, fields) => [
        endpoint,
        mapEntries(fields, (field, duration) => [lifetimeFields[field] ?? field, duration]),
      ]),
    about: ", with the fields fresh, staleWhileRevalidate, staleIfError, notFoundTtl and preconditionTtl",
  },
};

/**
 * Moves values that were given under an old name to the new one. Returns a warning for each, and an error where both names
 * are given.
 */
export const applyRenames = (given: Map<string, GivenSetting>): { warnings: string[]; errors: string[] } => {
  const warnings: string[] = [];
  const errors: string[] = [];
  for (const [old, { name, convert, about }] of Object.entries(renamedSettings)) {
    const found = given.get(old);
    if (found === undefined) continue;
    given.delete(old);
    const { value, from } = found;
    if (given.has(name))
      errors.push(`${old}: given ${from}, and ${name} as well; allowed is ${name} alone, its new name`);
    else given.set(name, { value: convert(value), from: `${from} as ${old}` });
    warnings.push(`${old} ${from} is deprecated: use ${name}${about}`);
  }
  return { warnings, errors };
};
