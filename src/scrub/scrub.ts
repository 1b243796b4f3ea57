import type { Json } from "../rules/rule.ts";
import { withoutEmails, withoutNamedSecrets } from "./namedSecrets.ts";

/** Takes what is secret or personal out of texts and documents; the same of what it has made. */
export type Scrub = { text: (text: string) => string; json: <T>(document: T) => T };

/** What stands for every key and session: the sample legacy's writing key. */
export const LAB_KEY = "0".repeat(32);

/** Shorter ones could be any word. */
export const SHORTEST_KEY = 16;

/** Whether a text is such a key. */
export const isScrubbable = (key: string): boolean => new RegExp(`^[A-Za-z0-9]{${SHORTEST_KEY},}$`).test(key);

/** `keys` are those known to be secret, of letters and digits; they are found in any case and encoding. */
export const scrubber = (keys: readonly string[]): Scrub => {
  if (!keys.every(isScrubbable)) throw new RangeError(`A key has at least ${SHORTEST_KEY} letters and digits.`);
  const secret = keys.filter((key) => !/^0+$/.test(key)).map((key) => Array.from(key, anyEncoding).join(""));
  const known = secret.length === 0 ? undefined : new RegExp(secret.join("|"), "gi");
  const once = (text: string) => {
    const named = withoutEmails(withoutNamedSecrets(text, LAB_KEY));
    return known ? named.replaceAll(known, LAB_KEY) : named;
  };
  // What one step made may be what another looks for.
  const plain = (text: string): string => {
    const after = once(text);
    return after === text ? text : plain(after);
  };
  const scrubbed = (text: string): string => {
    if (!isDocument(text)) return plain(text);
    const after = eachToken(text, scrubbed);
    return after === text ? text : scrubbed(after);
  };
  return { text: scrubbed, json: (document) => JSON.parse(scrubbed(JSON.stringify(document))) as typeof document };
};

/** One letter or digit plain, percent-encoded, escaped in JSON (once or more) or written as a reference of XML; in any case. */
const anyEncoding = (letter: string): string => {
  const codes = [letter.toLowerCase(), letter.toUpperCase()].map((one) => one.charCodeAt(0));
  const hex = codes.map((code) => code.toString(16)).join("|");
  return String.raw`(?:${letter}|%(?:25)*(?:${hex})|\\{1,16}u00(?:${hex})|&(?:amp;)*#(?:0*(?:${codes.join("|")})|x0*(?:${hex}));)`;
};

/** JSON that can be cut into its tokens. */
const isDocument = (text: string): boolean => {
  if (!/^\s*[{["]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

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
    const after = isSecret ? LAB_KEY : scrubbed(before);
    if (colon !== undefined) member = before;
    return after === before ? written : JSON.stringify(after) + (colon ?? "");
  });
};
