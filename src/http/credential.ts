/** The key of a request, if it has one. `refused`: it has several, or one that must not be sent to legacy. */
export type Credential = { key?: string; refused?: true };

/** Whether a text can be a key: legacy puts it into SQL unescaped, and takes `0` for no key. */
export const isKey = (text: string): boolean => /^[A-Za-z0-9]{1,64}$/.test(text) && text !== "0";

/** Reads the key from the query (`api_key`), a bearer token or `X-API-Key`; an empty one does not count. */
export const readCredential = (query: string, header: (name: string) => string | undefined): Credential => {
  const listed = (name: string) => (header(name) ?? "").split(",").map((one) => one.trim());
  const bearers = listed("authorization").map((one) => /^bearer(?:\s+(.*))?$/i.exec(one)?.[1]);
  const given = [...new URLSearchParams(query).getAll("api_key"), ...bearers, ...listed("x-api-key")].filter(
    (key) => key !== undefined && key !== "",
  );
  const [key, ...others] = given;
  if (key === undefined) return {};
  return isKey(key) && others.every((other) => other === key) ? { key } : { refused: true };
};
