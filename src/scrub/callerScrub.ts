import { isObject, type Json } from "../rules/rule.ts";
import { isScrubbable, type Scrub, scrubber } from "./scrub.ts";

/**
 * Takes a caller's key, of any length and in any case, out of texts and documents, and whatever else is secret or personal in them.
 * A key too short to be told from a word is taken out wherever it stands.
 */
export const callerScrub = (key: string | undefined): Scrub => {
  if (key === undefined) return scrubber([]);
  if (isScrubbable(key)) return scrubber([key]);
  const { text: general, json } = scrubber([]);
  const pattern = new RegExp(RegExp.escape(key), "gi");
  const text = (one: string) => general(one).replaceAll(pattern, "(key)");
  const within = (value: Json): Json => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return String(value) === key ? 0 : value;
    if (Array.isArray(value)) return value.map(within);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [text(name), within(member)]));
  };
  return { text, json: (document) => within(json(document) as Json) as typeof document };
};
