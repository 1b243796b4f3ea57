/** The key of a request, if it has one. `refused`: it has several keys, or a key that must not be sent to legacy. */
export type Credential = { key?: string; refused?: true };

/** True if a text can be a key: legacy puts it into SQL unescaped, and reads `0` as no key. */
export const isKey = (text: string): boolean => /^[A-Za-z0-9]{1,64}$/.test(text) && text !== "0";

/** The key of a query with no other parameter, `?api_key=KEY`. Empty: no key. `undefined`: another query. */
export const keyAlone = (query: string): string | undefined => /^\?api_key=([A-Za-z0-9]*)$/.exec(query)?.[1];

const none: readonly string[] = [];

/** Stands for the key if `Authorization` holds anything but `Bearer KEY`. */
const NO_KEY = "-";

/**
 * All keys of a request, valid or not, from the query (`api_key`), `Authorization` and `X-API-Key`. An empty key does
 * not count.
 */
const readKeys = (query: string, header: (name: string) => string | undefined): readonly string[] => {
  // Most requests have no key.
  if (query === "" && header("authorization") === undefined && header("x-api-key") === undefined) return none;
  const listed = (name: string) => (header(name) ?? "").split(",").map((value) => value.trim());
  const bearers = listed("authorization").map((value) =>
    value === "" ? "" : (/^bearer\s+(.+)$/i.exec(value)?.[1] ?? NO_KEY),
  );
  const keys = [...new URLSearchParams(query).getAll("api_key"), ...bearers, ...listed("x-api-key")];
  return keys.filter((key) => key !== "");
};

/** The keys of a request, which a log must not show. */
export const keysGiven = (query: string, header: (name: string) => string | undefined): string[] =>
  readKeys(query, header).filter((key) => key !== NO_KEY);

const noCredential: Credential = {};

/**
 * Reads the key from the query (`api_key`), a bearer token or `X-API-Key`; an empty key does not count. Any other
 * `Authorization` (Basic, Bearer without a key) is an invalid credential.
 */
export const readCredential = (query: string, header: (name: string) => string | undefined): Credential => {
  const [key, ...others] = readKeys(query, header);
  if (key === undefined) return noCredential;
  return isKey(key) && others.every((other) => other === key) ? { key } : { refused: true };
};
