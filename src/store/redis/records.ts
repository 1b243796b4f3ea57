import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Changes } from "../keyedStore.ts";
import { Mirror, type MirrorSettings, type PendingWrite } from "./mirror.ts";
import { recordKeys, recordScripts } from "./recordScripts.ts";
import { asTexts, type RunScript } from "./script.ts";

/** What records are opened with. */
export type RedisRecordsSettings<T> = MirrorSettings<T> & {
  run: RunScript;
  /** What the names of all keys begin with. */
  prefix: string;
};

/** Other gateways may change the store this often while one change is made. */
const MAX_ROUNDS = 10;
/** Milliseconds of the longest back-off after the first collision; it grows with each. */
const MAX_BACK_OFF = 5;
const BUSY = "others change it all the time";

const replySchema = z.tuple([z.string(), z.enum(["all", "some"]), z.array(z.string().nullable())]).nullable();

/** Opens the records below a prefix; nothing is read yet. `sync` and `update` must follow one another; only `save` may come in between. */
export const openRedisRecords = <T>(settings: RedisRecordsSettings<T>) => {
  const { run, prefix, schema } = settings;
  const keys = recordKeys(prefix);
  const mirror = new Mirror<T>(settings);
  /** As it was last read or written; "" if Redis has lost some records or has none. */
  let version = "";

  const read = async (): Promise<void> => {
    const reply = replySchema.parse(asTexts(await run(recordScripts.read, keys.data, [version])));
    if (reply === null) return;
    const [now, how, pairs] = reply;
    mirror.number = Math.max(mirror.number, Number.parseInt(now, 10) || 0);
    mirror.take(pairs, how === "all");
    version = now;
  };
  /** False if somebody else has changed the store since it was read. */
  const write = async ({ records, done }: PendingWrite<T>): Promise<boolean> => {
    const highest = Math.max(mirror.number, ...records.map(([, record]) => record.version));
    const texts = records.flatMap(([key, record]) => [key, JSON.stringify(record)]);
    const about = [version, keys.changes, String(highest), randomUUID()];
    const reply = asTexts(await run(recordScripts.write, keys.data, [...about, ...texts]));
    if (typeof reply !== "string") return false;
    version = reply;
    mirror.number = highest;
    done();
    return true;
  };
  /** Reads what others have changed, puts back what Redis has lost, and writes what was saved; minor values alone only if `isBeat`. */
  const sync = async (isBeat: boolean): Promise<void> => {
    for (let failures = 0; failures < MAX_ROUNDS;) {
      await read();
      // Without a version everybody would read everything again and again.
      const repair = version === "" && mirror.isBegun() ? { records: [], done: () => undefined } : undefined;
      const pending = mirror.pending(isBeat) ?? repair;
      if (pending === undefined) return;
      if (!(await write(pending))) failures++;
    }
    throw new Error(BUSY);
  };

  return {
    entries: () => mirror.entries(),
    isUnreadable: (key: string) => mirror.unreadable.has(key),
    /** Whether anything is stored, as of the last reading. */
    isBegun: () => version !== "",
    sync,
    /** As `KeyedStore.update`; gives up as soon as `isOver`. */
    async update(key: string, make: (latest: T | undefined) => T | undefined, isOver: () => boolean): Promise<boolean> {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        await sync(false);
        if (isOver()) throw new Error("it was given up");
        const made = make(mirror.latest(key));
        if (made === undefined) return false;
        // After it was given up the caller believes that it was not stored.
        if (await write(mirror.update(key, schema(key).parse(made), isOver))) return true;
        // Writers that collide would otherwise collide again.
        await sleep(Math.random() * MAX_BACK_OFF * (round + 1));
      }
      throw new Error(BUSY);
    },
    save: (changes: Changes<T>, isMinor: boolean) => mirror.save(changes, isMinor),
  };
};
