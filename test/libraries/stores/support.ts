import { onTestFinished } from "vitest";
import { z } from "zod";
import { openStores } from "../../../libraries/stores/openStores.ts";
import type { KeyValueStore, Stores, StoreSettings, StoresSettings } from "../../../libraries/stores/keyValueStore.ts";

/** The values of the stores in these tests. */
type Value = { name: string };

/** The Redis key of the store `things`. */
export const KEY = "catalog-gateway:1:state:things";

/**
 * A store in its place, its events as `name {"about":...}`, and the changes that listeners got,
 * as `key=name` or `key-`.
 */
export type Observed = KeyValueStore<Value> & { stores: Stores; events: string[]; changes: string[] };

/** Opens the store `things` at a place; if nothing else is said, when Redis answers. */
export const openAt = async (
  { REDIS_URL, DATA_DIR, timeout = 10_000, patience = 60_000, ...hint }: Partial<StoresSettings>,
  settings: Partial<StoreSettings<Value>> = {},
): Promise<Observed> => {
  const events: string[] = [];
  const changes: string[] = [];
  const onEvent = (event: string, about: object) => void events.push(`${event} ${JSON.stringify(about)}`);
  const stores = await openStores({ ...hint, REDIS_URL, DATA_DIR, onEvent, timeout, patience });
  onTestFinished(() => stores.close());
  const schema = () => z.strictObject({ name: z.string() });
  const store = await stores
    .open<Value>({ feature: "things", schema, needsRedis: true, ...settings })
    .catch(async (error: Error) => {
      await stores.close();
      throw error;
    });
  store.onChange((changed) => {
    for (const [key, value] of changed) changes.push(value === undefined ? `${key}-` : `${key}=${value.name}`);
  });
  return { ...store, stores, events, changes };
};

/** `a=x b=y`, by key. */
export const textOf = (store: KeyValueStore<Value>): string =>
  [...store.entries()]
    .map(([key, { name }]) => `${key}=${name}`)
    .toSorted()
    .join(" ");

/** Stores this name, whatever was there. */
export const put = (store: KeyValueStore<Value>, key: string, name: string): Promise<boolean> =>
  store.update(key, () => ({ name }));
