import { fieldReader } from "./formFields.ts";

const reader = fieldReader(["api_key"]);

const lastOf = (values: { value: string }[]): string | undefined => values.at(-1)?.value;

/**
 * The key a request to legacy's interface comes with, as legacy takes it: from the query, else from the body's form; the last of several. `body`:
 * its beginning, where it was seen. `undefined` where there is none; an empty key and `0` are none.
 */
export const legacyKeyOf = (query: string, contentType: string | undefined, body: string): string | undefined => {
  const key = (lastOf(reader.inForm(query).values) ?? keyInBody(contentType ?? "", body))?.trim();
  return key === "" || key === "0" ? undefined : key;
};

const keyInBody = (contentType: string, body: string): string | undefined => {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return lastOf(reader.inForm(body).values);
  return /^multipart\/form-data\b/i.test(contentType) ? lastOf(reader.inParts(body).values) : undefined;
};

/** All keys in a query or a urlencoded form, as legacy would read them. */
export const keysInForm = (form: string): string[] =>
  reader.inForm(form).values.flatMap(({ value }) => (value === "" ? [] : [value]));

/** Whether legacy takes a form field of this name for the key. */
export const isKeyName = (name: string): boolean => reader.inForm(`${encodeURIComponent(name)}=`).values.length > 0;

/** The keys in headers, in which legacy itself reads none; in a log they may be masked. */
export const keysInHeaders = (headers: Iterable<readonly [name: string, value: string]>): string[] => {
  const keys: string[] = [];
  for (const [name, value] of headers) {
    const header = name.toLowerCase();
    if (header !== "x-api-key" && header !== "authorization") continue;
    const isOther = header === "authorization" && /^(basic|digest|negotiate)\b/i.test(value.trim());
    const key = header === "authorization" ? value.trim().replace(/^bearer(\s+|$)/i, "") : value.trim();
    if (key !== "" && !isOther) keys.push(key);
  }
  return keys;
};
