import { hash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { KeyedStore } from "../../store/keyedStore.ts";
import { memoryStore } from "../../store/localStore.ts";
import { openSums, type SumsStoreSettings, sumsStoreSettings } from "../../store/sums.ts";

/** The caller of requests without a key. */
export const NOBODY = "nobody";
/** Callers that are remembered at most, with a key and without. A client may send any user agent: that must push no key off the list. */
export const MAX_CALLERS = { keyed: 1500, anonymous: 500 };
/** Those with a key are stored in so many values, so that one more request writes few of them. Each has room for twice its part. */
const SHARDS = 6;
const MAX_IN_SHARD = 500;
const FLUSH_MS = 30_000;
const SALT = "salt";

const callerSchema = z.strictObject({
  caller: z.string().max(100),
  agent: z.string().max(1000),
  path: z.string().max(10_000),
  count: z.int().min(1),
  first: z.number(),
  last: z.number(),
});

/** One caller of one path. Times are milliseconds since the epoch. */
export type CallerEntry = z.infer<typeof callerSchema>;

/** Some of the callers; or the secret that their hashes are made with. */
type ClientRecord = { callers: CallerEntry[] } | { salt: string };

const schema = (key: string): z.ZodType<ClientRecord> =>
  key === SALT
    ? z.strictObject({ salt: z.string().regex(/^[0-9a-f]{64}$/) })
    : z.strictObject({ callers: z.array(callerSchema).max(MAX_IN_SHARD) });

/** The callers that are stored, with those that will be. */
export type StoredClients = { list(): CallerEntry[]; close(): Promise<void> };

type OpenClients = (take: () => CallerEntry[]) => StoredClients;

/** Clients in memory: they are forgotten with the process. */
export const memoryClients: OpenClients = (take) =>
  clientsOver(memoryStore<ClientRecord>({ schema, onEvent: () => undefined }), () => undefined)(take);

/** Opens the stored clients, with the salt of their hashes. `onError` is called if something could not be stored. */
export const openStoredClients = async (
  open: (settings: SumsStoreSettings<ClientRecord>) => Promise<KeyedStore<ClientRecord>>,
  onError: (error: Error) => void,
): Promise<{ salt: string; openClients: OpenClients }> => {
  const store = await open(sumsStoreSettings("clients", schema, onError));
  return { salt: await sharedSalt(store, onError), openClients: clientsOver(store, onError) };
};

/** Attempts to get the salt, and milliseconds between them: Redis may not be connected yet, and the start waits no longer than this. */
const ATTEMPTS = 20;
const ATTEMPT_MS = 50;

/** The stored salt, or a new one, which is stored. If the store does not answer, the hashes of this process are its own. */
const sharedSalt = async (store: KeyedStore<ClientRecord>, onError: (error: Error) => void): Promise<string> => {
  const own = randomBytes(32).toString("hex");
  let problem: Error | undefined;
  for (let i = 0; i < ATTEMPTS; i++) {
    problem = await store
      .update(SALT, (latest) => latest ?? { salt: own })
      .then(
        () => undefined,
        (error: Error) => error,
      );
    if (problem === undefined) break;
    await sleep(ATTEMPT_MS);
  }
  if (problem) onError(problem);
  const stored = store.entries().get(SALT);
  return stored && "salt" in stored ? stored.salt : own;
};

const idOf = ({ caller, path, agent }: CallerEntry): string => `${caller} ${path} ${agent}`;

const shardOf = (entry: CallerEntry): string =>
  entry.caller === NOBODY
    ? `callers/${NOBODY}`
    : `callers/${Number.parseInt(hash("sha256", idOf(entry), "hex").slice(0, 8), 16) % SHARDS}`;

const clientsOver =
  (store: KeyedStore<ClientRecord>, onError: (error: Error) => void): OpenClients =>
  (take) => {
    const collect = (): void => {
      const taken = Object.groupBy(take(), shardOf);
      for (const [shard, callers = []] of Object.entries(taken)) sums.add(shard, boundedShard(callers));
    };
    const sums = openSums(store, { sum: sumShards, collect, onError, interval: FLUSH_MS });
    return {
      list() {
        collect();
        return [...sums.keys()].flatMap((key) => {
          const record = sums.get(key);
          return record && "callers" in record ? record.callers : [];
        });
      },
      close: () => sums.close(),
    };
  };

/** Those with the latest requests. */
const boundedShard = (callers: readonly CallerEntry[]): ClientRecord => ({
  callers: callers.toSorted((a, b) => b.last - a.last).slice(0, MAX_IN_SHARD),
});

const sumShards = (known: ClientRecord, added: ClientRecord): ClientRecord => {
  if ("salt" in known || "salt" in added) return known;
  const all = new Map(known.callers.map((entry) => [idOf(entry), entry]));
  for (const entry of added.callers) {
    const same = all.get(idOf(entry));
    all.set(
      idOf(entry),
      same === undefined
        ? entry
        : {
            ...entry,
            count: same.count + entry.count,
            first: Math.min(same.first, entry.first),
            last: Math.max(same.last, entry.last),
          },
    );
  }
  return boundedShard([...all.values()]);
};
