import { z } from "zod";
import { entriesOf } from "./compose.ts";
import type { Json, Rule } from "./rule.ts";

/** Cuts one text into its entries. */
type Cut = (text: string) => string[];

/** Uploaders quoted their entries in every way, or in none, and not always in pairs. */
const bare = (entry: string): string => entry.replace(/^[\s'"]+|[\s'"]+$/g, "");

const cutList = (name: string, does: string, cut: Cut): Rule => ({
  name,
  does,
  schema: z.array(z.string()),
  read(legacy, note) {
    const entries = entriesOf(legacy);
    const ours = entries.flatMap((entry): Json[] => (typeof entry === "string" ? cut(entry).map(bare).filter(Boolean) : [entry]));
    if (!Array.isArray(legacy) || ours.length !== legacy.length || ours.some((entry, i) => entry !== legacy[i])) note.changed(name, legacy, ours);
    return ours;
  },
});

/** `"\"Fisher, R.\", Anderson"` -> `["Fisher", "R.", "Anderson"]` */
export const commaSeparated: Rule = cutList("commaSeparated", '`"A, \'B\'"` -> `["A", "B"]`', (text) => text.split(","));

/** `"http://a/?x=1,2,http://b"` -> `["http://a/?x=1,2", "http://b"]`: a URL may hold a comma, so only a new URL ends one. */
export const urlList: Rule = cutList("urlList", '`"http://a/1,2, http://b"` -> `["http://a/1,2", "http://b"]`', (text) =>
  text.split(/,(?=[\s'"]*[a-z][a-z0-9+.-]*:\/\/)/i),
);
