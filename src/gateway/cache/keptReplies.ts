import type { Entry } from "./entry.ts";
import type { Reply } from "./reply.ts";

/**
 * Replies that are kept at a time, each with at most 60 KiB of headers and text; and the characters
 * of what they are kept by.
 */
const MAX_KEPT = 256;
const MAX_KIND = 1024;
const SECOND = 1000;

/**
 * Opens replies to hits. For a second, an entry's replies to requests of one kind stay the same, until it has another
 * coding; then all are dropped. It keeps no entry that is evicted.
 */
export const openKeptReplies = () => {
  let second = 0;
  let count = 0;
  let replies = new WeakMap<Entry, Map<string, { coded: Entry["coded"]; reply: Reply }>>();
  /** `kind`: what of the request decides how its reply is written. `write` is called where there is none yet. */
  return (entry: Entry, kind: string, now: number, write: () => Reply): Reply => {
    if (second !== Math.floor(now / SECOND)) {
      second = Math.floor(now / SECOND);
      count = 0;
      replies = new WeakMap();
    }
    const ofEntry = replies.get(entry);
    const kept = ofEntry?.get(kind);
    if (kept !== undefined && kept.coded === entry.coded) return kept.reply;
    const reply = write();
    if (count === MAX_KEPT || kind.length > MAX_KIND) return reply;
    count++;
    const toKeep = { coded: entry.coded, reply };
    if (ofEntry === undefined) replies.set(entry, new Map([[kind, toKeep]]));
    else ofEntry.set(kind, toKeep);
    return reply;
  };
};
