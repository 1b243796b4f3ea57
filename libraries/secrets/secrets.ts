import { isObject, type Json, parseJson } from "../../src/catalogue/index.ts";
import { HIDDEN } from "../../src/operation/index.ts";
import { withoutEmails, withoutNamedSecrets } from "./namedSecrets.ts";

/** Removes keys, sessions, cookies and mail addresses from texts and documents. A second call changes nothing more. */
export type Secrets = {
  text: (text: string) => string;
  /** The same for all texts of a document, including the names of its members. */
  json: <T>(document: T) => T;
  /**
   * The same, and removes a caller's key, of any length and in any case. A short key is removed wherever it stands,
   * even within a word.
   */
  ofCaller: (key: string | undefined) => Secrets;
};

/** The sample legacy's writing key. It replaces every key and session. */
export const SAMPLE_KEY = "0".repeat(32);

/** The length of a key that is removed in every encoding: a shorter key could be any word. */
export const MIN_KEY_LENGTH = 16;

/** True if a text is such a key. */
export const isLongKey = (key: string): boolean => new RegExp(`^[A-Za-z0-9]{${MIN_KEY_LENGTH},}$`).test(key);

/** The most rounds in which a text is searched; if it still changes then, it is not shown at all. */
const MAX_ROUNDS = 10;

/** Opens the removal of secrets. `keys`: known keys that are long (`isLongKey`), found in any case and encoding. */
export const openSecrets = (keys: readonly string[] = []): Secrets => {
  if (!keys.every(isLongKey)) throw new RangeError(`A key has at least ${MIN_KEY_LENGTH} letters and digits.`);
  const secret = keys.filter((key) => !/^0+$/.test(key)).map((key) => Array.from(key, anyEncoding).join(""));
  const known = secret.length === 0 ? undefined : new RegExp(secret.join("|"), "gi");
  const once = (text: string) => {
    const named = withoutEmails(withoutNamedSecrets(text, SAMPLE_KEY));
    return known ? named.replaceAll(known, SAMPLE_KEY) : named;
  };
  const text = (before: string): string => {
    let found = before;
    // The result of a step may be a secret for another step.
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const after = isDocument(found) ? eachToken(found, text) : once(found);
      if (after === found) return found;
      found = after;
    }
    return isDocument(found) ? JSON.stringify(HIDDEN) : HIDDEN;
  };
  const secrets: Secrets = {
    text,
    json: (document) => JSON.parse(text(JSON.stringify(document))) as typeof document,
    ofCaller(key) {
      if (key === undefined) return secrets;
      return isLongKey(key) ? openSecrets([...keys, key]) : withoutWord(secrets, key);
    },
  };
  return secrets;
};

/** The same without this key, which may be any word. */
const withoutWord = (secrets: Secrets, key: string): Secrets => {
  const pattern = new RegExp(RegExp.escape(key), "gi");
  const text = (value: string) => secrets.text(value).replaceAll(pattern, "(key)");
  const within = (value: Json): Json => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return String(value) === key ? 0 : value;
    if (Array.isArray(value)) return value.map(within);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [text(name), within(member)]));
  };
  return {
    text,
    json: (document) => within(secrets.json(document) as Json) as typeof document,
    ofCaller: (other) => withoutWord(secrets.ofCaller(other), key),
  };
};

/**
 * A letter or digit, plain, percent-encoded, escaped in JSON (once or more) or written as a reference of XML; in any
 * case.
 */
const anyEncoding = (letter: string): string => {
  const codes = [letter.toLowerCase(), letter.toUpperCase()].map((character) => character.charCodeAt(0));
  const hex = codes.map((code) => code.toString(16)).join("|");
  return String.raw`(?:${letter}|%(?:25)*(?:${hex})|\\{1,16}u00(?:${hex})|&(?:amp;)*#(?:0*(?:${codes.join("|")})|x0*(?:${hex}));)`;
};

/** True for JSON that can be cut into its tokens. */
const isDocument = (text: string): boolean => /^\s*[{["]/.test(text) && parseJson(text) !== undefined;

const secretMember = /^(api_?key|x-api-key|authorization|(set-)?cookie|session_hash|ci_session|phpsessid)$/i;
const sessionMember = /^session/i;
const token = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]|-?\d[\d.eE+-]*/g;

/** Scrubs the texts of a JSON document one by one, and leaves everything between them as it is written. */
const eachToken = (document: string, scrubbed: (text: string) => string): string => {
  let member = "";
  return document.replaceAll(token, (written, colon?: string) => {
    if (written === "{" || written === "}") member = "";
    if (!written.startsWith('"')) return /^[{}]/.test(written) || scrubbed(written) === written ? written : "0";
    const literal = colon === undefined ? written : written.slice(0, -colon.length);
    const before = JSON.parse(literal) as Json & string;
    const isSecret =
      colon === undefined &&
      before !== "" &&
      (secretMember.test(member) || (sessionMember.test(member) && /^[0-9a-f]{32}$/i.test(before)));
    const after = isSecret ? SAMPLE_KEY : scrubbed(before);
    if (colon !== undefined) member = before;
    return after === before ? written : JSON.stringify(after) + (colon ?? "");
  });
};
