import { z } from "zod";
import { entriesOf } from "./compose.ts";
import type { Json, Rule } from "./rule.ts";

/** Cuts one text into its entries. */
type Cut = (text: string) => string[];

/** A quote, a blank or a control character. */
const isPadding = (code: number): boolean => code <= 0x20 || code === 0x22 || code === 0x27 || code === 0xa0;

/** Uploaders quoted their entries in every way, or in none, and not always in pairs. No regular expression: one that looks from the end takes quadratic time. */
const bare = (entry: string): string => {
  let start = 0;
  let end = entry.length;
  while (start < end && isPadding(entry.charCodeAt(start))) start++;
  while (end > start && isPadding(entry.charCodeAt(end - 1))) end--;
  return start === 0 && end === entry.length ? entry : entry.slice(start, end);
};

const cutList = (name: string, does: string, cut: Cut): Rule<string[]> => ({
  name,
  does,
  schema: z.array(z.string()),
  read(legacy, note) {
    const ours: Json[] = [];
    for (const entry of entriesOf(legacy)) {
      if (typeof entry !== "string") ours.push(entry);
      else for (const part of cut(entry)) pushBare(ours, part);
    }
    if (Array.isArray(legacy) && ours.length === legacy.length && ours.every((entry, i) => entry === legacy[i]))
      return legacy;
    note.changed(name, legacy, ours);
    return ours;
  },
});

const pushBare = (ours: Json[], part: string) => {
  const entry = bare(part);
  if (entry !== "") ours.push(entry);
};

/** `"\"Fisher, R.\", Anderson"` -> `["Fisher", "R.", "Anderson"]` */
export const commaSeparated: Rule<string[]> = cutList("commaSeparated", '`"A, \'B\'"` -> `["A", "B"]`', (text) =>
  text.split(","),
);

/** `"http://a/?x=1,2,http://b"` -> `["http://a/?x=1,2", "http://b"]`: a URL may hold a comma, so only a new URL ends one. */
export const urlList: Rule<string[]> = cutList(
  "urlList",
  '`"http://a/1,2, http://b"` -> `["http://a/1,2", "http://b"]`',
  (text) => text.split(/,(?=[\s'"]*[a-z][a-z0-9+.-]*:\/\/)/i),
);
