import type { Entry } from "./entry.ts";
import type { Reply } from "./reply.ts";

/**
 * The number of replies that are kept at a time, each with at most 60 KiB of headers and text; and the characters of
 * the longest `kind`.
 */
const MAX_KEPT = 256;
const MAX_KIND = 1024;
const SECOND = 1000;

/**
 * Opens a store of replies to hits. An entry's reply to requests of one kind is reused until the second is over, when
 * all replies are dropped, or until the entry gets another coding. An evicted entry is not kept in memory.
 */
export const openKeptReplies = () => {
  let second = 0;
  let count = 0;
  let replies = new WeakMap<Entry, Map<string, { coded: Entry["coded"]; reply: Reply }>>();
  /** `kind`: the members of the request that decide how its reply is written. `write`: called if no reply is kept. */
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
