import { onTestFinished } from "vitest";
import {
  type MigrationRecord,
  type MigrationState,
  openStateStore,
  type StateStore,
  type StateStoreSettings,
} from "../../../../src/features/migration/store/stateStore.ts";
import { redisStore, type RedisStoreSettings } from "../../../../src/store/redis/redisStore.ts";
import { sqliteStore } from "../../../../src/store/sqliteStore.ts";

/** `getThing shadow 7`: an endpoint, its stage and the second it is from. */
export const stagesOf = ({ stages }: MigrationState): string[] =>
  Object.entries(stages)
    .map(([endpoint, { stage: name, since }]) => `${endpoint} ${name} ${new Date(since).getUTCSeconds()}`)
    .toSorted();

type Told = { events: string[] };

const telling = () => {
  const events: string[] = [];
  return { events, onEvent: (event: string, about: object) => void events.push(`${event} ${JSON.stringify(about)}`) };
};

/** A store in a directory, and its events. */
export const openFile = async (
  directory: string,
  settings: Partial<StateStoreSettings> = {},
): Promise<StateStore & Told> => {
  const { events, onEvent } = telling();
  const store = await openStateStore({ onEvent, ...settings }, (about) => sqliteStore({ ...about, directory }));
  onTestFinished(() => store.close());
  return { ...store, events };
};

/** A gateway's store on Redis, its events, and each state that its listener was called with. */
export const openRedis = async (
  url: string,
  { endpoints, ...settings }: Partial<RedisStoreSettings<MigrationRecord> & StateStoreSettings> = {},
): Promise<StateStore & Told & { changes: MigrationState[] }> => {
  const { events, onEvent } = telling();
  const store = await openStateStore({ onEvent, endpoints }, (about) =>
    redisStore({ ...about, url, timeout: 500, ...settings }),
  );
  onTestFinished(() => store.close());
  const changes: MigrationState[] = [];
  store.onChange((state) => changes.push(state));
  return { ...store, events, changes };
};
