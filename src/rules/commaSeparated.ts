import { z } from "zod";
import { entriesOf } from "./compose.ts";
import type { Json, Rule } from "./rule.ts";

/** Cuts one text into its entries. */
type Cut = (text: string) => string[];

const isQuoteOrBlank = (character: string | undefined): boolean => character !== undefined && /[\s'"]/.test(character);

/** Uploaders quoted their entries in every way, or in none, and not always in pairs. No regular expression: one that looks from the end takes quadratic time. */
const bare = (entry: string): string => {
  let start = 0;
  let end = entry.length;
  while (start < end && isQuoteOrBlank(entry[start])) start++;
  while (end > start && isQuoteOrBlank(entry[end - 1])) end--;
  return entry.slice(start, end);
};

const cutList = (name: string, does: string, cut: Cut): Rule => ({
  name,
  does,
  schema: z.array(z.string()),
  read(legacy, note) {
    const entries = entriesOf(legacy);
    const ours = entries.flatMap((entry): Json[] =>
      typeof entry === "string" ? cut(entry).map(bare).filter(Boolean) : [entry],
    );
    if (!Array.isArray(legacy) || ours.length !== legacy.length || ours.some((entry, i) => entry !== legacy[i]))
      note.changed(name, legacy, ours);
    return ours;
  },
});

/** `"\"Fisher, R.\", Anderson"` -> `["Fisher", "R.", "Anderson"]` */
export const commaSeparated: Rule = cutList("commaSeparated", '`"A, \'B\'"` -> `["A", "B"]`', (text) =>
  text.split(","),
);

/** `"http://a/?x=1,2,http://b"` -> `["http://a/?x=1,2", "http://b"]`: a URL may hold a comma, so only a new URL ends one. */
export const urlList: Rule = cutList(
  "urlList",
  '`"http://a/1,2, http://b"` -> `["http://a/1,2", "http://b"]`',
  (text) => text.split(/,(?=[\s'"]*[a-z][a-z0-9+.-]*:\/\/)/i),
);
