/**
 * The key of a request, if it has one. `refused`: it has several keys, or a key that must not be sent to legacy.
 * `given`: all keys of the request, valid or not, which a log must not show.
 */
export type Credential = { key?: string; refused?: true; given: readonly string[] };

/** True if a text can be a key: legacy puts it into SQL unescaped, and reads `0` as no key. */
export const isKey = (text: string): boolean => /^[A-Za-z0-9]{1,64}$/.test(text) && text !== "0";

/** The key of a query with no other parameter, `?api_key=KEY`. Empty: no key. `undefined`: another query. */
export const keyAlone = (query: string): string | undefined => /^\?api_key=([A-Za-z0-9]*)$/.exec(query)?.[1];

/** Stands for the key if `Authorization` holds anything but `Bearer KEY`. */
const NO_KEY = "-";

const noCredential: Credential = { given: [] };

/**
 * Reads the key from the query (`api_key`), a bearer token or `X-API-Key`; an empty key does not count. Any other
 * `Authorization` (Basic, Bearer without a key) is an invalid credential.
 */
export const readCredential = (query: string, header: (name: string) => string | undefined): Credential => {
  // Most requests have no key, or only that in the query.
  if (header("authorization") === undefined && header("x-api-key") === undefined) {
    const key = query === "" ? "" : keyAlone(`?${query}`);
    if (key === "") return noCredential;
    if (key !== undefined && isKey(key)) return { key, given: [key] };
  }
  const listed = (name: string) => (header(name) ?? "").split(",").map((value) => value.trim());
  const bearers = listed("authorization").map((value) =>
    value === "" ? "" : (/^bearer\s+(.+)$/i.exec(value)?.[1] ?? NO_KEY),
  );
  const sent = [...new URLSearchParams(query).getAll("api_key"), ...bearers, ...listed("x-api-key")];
  const [key, ...others] = sent.filter((value) => value !== "");
  if (key === undefined) return noCredential;
  const given = [key, ...others].filter((value) => value !== NO_KEY);
  return isKey(key) && others.every((other) => other === key) ? { key, given } : { refused: true, given };
};
