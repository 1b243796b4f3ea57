import { z } from "zod";
import { isBlank, trimmed } from "./blanks.ts";
import { entriesOf } from "./compose.ts";
import type { Json, Rule } from "./rule.ts";

type Cut = (text: string) => string[];

/** Uploaders quoted their entries in every way or not at all, and not always in pairs. */
const isPadding = (code: number): boolean => isBlank(code) || code === 0x22 || code === 0x27;

const cutList = (name: string, does: string, cut: Cut): Rule<string[]> => ({
  name,
  does,
  schema: z.array(z.string()),
  read(legacy, note) {
    const ours: Json[] = [];
    for (const entry of entriesOf(legacy)) {
      const parts = typeof entry === "string" ? cut(entry) : [entry];
      for (const part of parts) {
        const bare = typeof part === "string" ? trimmed(part, isPadding) : part;
        if (bare !== "") ours.push(bare);
      }
    }
    if (Array.isArray(legacy) && ours.length === legacy.length && ours.every((entry, i) => entry === legacy[i]))
      return legacy;
    note.changed(name, legacy, ours);
    return ours;
  },
});

/** `"\"Fisher, R.\", Anderson"` -> `["Fisher", "R.", "Anderson"]` */
export const commaSeparated: Rule<string[]> = cutList("commaSeparated", '`"A, \'B\'"` -> `["A", "B"]`', (text) =>
  text.split(","),
);

/**
 * `"http://a/?x=1,2,http://b"` -> `["http://a/?x=1,2", "http://b"]`: a URL may hold a comma, so only the next URL ends
 * it.
 */
export const urlList: Rule<string[]> = cutList(
  "urlList",
  '`"http://a/1,2, http://b"` -> `["http://a/1,2", "http://b"]`',
  (text) => text.split(/,(?=[ \t\n\v\r\0'"]*[a-z][a-z0-9+.-]*:\/\/)/i),
);
