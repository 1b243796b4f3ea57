import { onTestFinished } from "vitest";
import { z } from "zod";
import type { KeyedStore, KeyedStoreSettings } from "../../src/store/keyedStore.ts";
import { memoryStore } from "../../src/store/localStore.ts";
import { redisStore, type RedisStoreSettings } from "../../src/store/redis/redisStore.ts";
import { sqliteStore, type SqliteStoreSettings } from "../../src/store/sqliteStore.ts";

/** The values of the stores in these tests. */
type Value = { name: string };
const valueSchema: z.ZodType<Value> = z.strictObject({ name: z.string() });

/** The prefix of all Redis keys. */
export const KEY = "catalog-gateway:1:state:things:";

/** A store, its events as `name {"about":...}`, and what it was told of, as `key=name` or `key-`. */
export type Observed = KeyedStore<Value> & { events: string[]; told: string[] };

const openWith = async (
  isRebuildable: boolean,
  open: (settings: KeyedStoreSettings<Value>) => Promise<KeyedStore<Value>>,
): Promise<Observed> => {
  const [events, told]: string[][] = [[], []];
  const store = await open({
    name: "things",
    schema: () => valueSchema,
    isRebuildable,
    onChange(changes) {
      for (const [key, value] of changes) told?.push(value === undefined ? `${key}-` : `${key}=${value.name}`);
    },
    onEvent: (event, about) => void events?.push(`${event} ${JSON.stringify(about)}`),
  });
  onTestFinished(() => store.close());
  return { ...store, events: events ?? [], told: told ?? [] };
};

export const inMemory = (): Promise<Observed> => openWith(false, async (about) => memoryStore(about));

export const inDirectory = (
  directory: string,
  { isRebuildable = false, ...more }: Partial<SqliteStoreSettings<Value>> = {},
): Promise<Observed> => openWith(isRebuildable, (about) => sqliteStore({ ...about, directory, ...more }));

export const onRedis = (
  url: string,
  { isRebuildable = false, ...more }: Partial<RedisStoreSettings<Value>> = {},
): Promise<Observed> =>
  openWith(isRebuildable, (about) =>
    redisStore({ ...about, url, interval: 100, timeout: 10_000, renewAfter: 60_000, ...more }),
  );

/** `a=x b=y`, by key. */
export const textOf = (store: KeyedStore<Value>): string =>
  [...store.entries()]
    .map(([key, { name }]) => `${key}=${name}`)
    .toSorted()
    .join(" ");

/** Stores this name, whatever was there. */
export const put = (store: KeyedStore<Value>, key: string, name: string): Promise<boolean> =>
  store.update(key, () => ({ name }));
