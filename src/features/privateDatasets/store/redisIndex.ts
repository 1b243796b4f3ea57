import { randomUUID } from "node:crypto";
import type { Connection } from "../../sharedCache/connection.ts";
import { type Change, idsOf, type Kept } from "../rows.ts";
import type { IndexStoreParts } from "./indexStore.ts";
import { type About, follow, type Message, messageFrom, numberOf } from "./redisMessage.ts";
import { type Reading, readChanged, readPart, readVersion } from "./redisReplies.ts";
import { type PrivateNames, privateScripts } from "./redisScripts.ts";

/** What this instance knows of the index in Redis. Its calls come one after the other, but `heard`. */
export type RedisIndex = {
  /** A message, for the next reading. */
  heard(text: string): void;
  /** Takes over what others have changed, as far as it was heard of; all of it where something was missed, or `isBeat`. */
  read(isBeat: boolean): Promise<void>;
  /** Whether Redis has it as far as is known here; `lost`: it had once. */
  state(): "there" | "lost" | "never";
  /** False where there is nothing in Redis to add it to: without the rest it would be taken for all there is. */
  add(change: Change): Promise<boolean>;
  /** All of it in place of whatever is there. */
  begin(kept: Kept): Promise<void>;
};

export type RedisIndexSettings = Pick<IndexStoreParts, "onChange" | "onEvent"> & {
  run: Connection["run"];
  names: PrivateNames;
};

export const openRedisIndex = ({ run, names, onChange, onEvent }: RedisIndexSettings): RedisIndex => {
  const self = randomUUID();
  let known = "";
  let isThere = false;
  let isBehind = true;
  let messages: (Message | undefined)[] = [];

  const told = new Set<string>();
  const tellUnreadable = (about: Record<string, unknown>) => {
    const once = JSON.stringify(about);
    if (!told.has(once)) onEvent("private_index_store_unreadable", about);
    told.add(once);
  };
  const take = ({ change, unreadable }: Reading, isWhole: boolean) => {
    if (unreadable.length > 0) tellUnreadable({ fields: unreadable.slice(0, 10), count: unreadable.length });
    onChange(change, isWhole);
  };

  const readSome = async (ids: readonly number[], isWalk: boolean) => {
    if (ids.length === 0 && !isWalk) return;
    const reading = readPart(await run(privateScripts.some, names.keys, ids.map(String)));
    // How far another instance was is asked for only where it got further.
    take(isWalk ? reading : { ...reading, change: { ...reading.change, walk: undefined } }, false);
  };

  const readAll = async () => {
    const { version, part } = readVersion(await run(privateScripts.read, names.keys, [known]));
    isThere = version !== "";
    if (part !== undefined) take(readPart(part), true);
    // What is lost stays what it was: its number goes on.
    if (isThere) known = version;
  };

  const write = async (how: "anew" | "more", change: Change): Promise<boolean> => {
    const { rows, gone, walk } = change;
    const about: About = { by: self, ids: how === "more" ? idsOf(change) : [], walk: walk !== undefined };
    const reply = await run(privateScripts.change, names.keys, [
      randomUUID(),
      names.changes,
      JSON.stringify(about),
      how,
      String(numberOf(known)),
      walk === undefined ? "" : JSON.stringify(walk),
      String(rows.length),
      ...rows.flatMap((row) => [String(row.id), JSON.stringify(row)]),
      ...gone.map(String),
    ]);
    const changed = readChanged(reply);
    isThere = changed !== undefined;
    // Where somebody else was faster, the messages lead there by both changes.
    if (changed && (how === "anew" || changed.before === known)) known = changed.after;
    return isThere;
  };

  return {
    heard: (text) => void messages.push(messageFrom(text)),
    async read(isBeat) {
      const news = follow(known, messages, self);
      messages = [];
      const isAllDue = isBehind || isBeat || news.isMissed;
      // Until it has worked.
      isBehind = true;
      try {
        await readSome(news.ids, news.walk);
        known = news.version;
        if (isAllDue) await readAll();
        isBehind = false;
      } catch (error) {
        const why = (error as Error).message;
        if (!why.includes("WRONGTYPE")) throw error;
        tellUnreadable({ why });
        isThere = false;
      }
    },
    state: () => (isThere ? "there" : known === "" ? "never" : "lost"),
    add: (change) => write("more", change),
    async begin(kept) {
      const wasKnown = known !== "";
      await write("anew", { ...kept, gone: [] });
      if (wasKnown) onEvent("private_index_store_restored", { rows: kept.rows.length });
    },
  };
};
