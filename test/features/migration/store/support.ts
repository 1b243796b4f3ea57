import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { fileStore, type FileStoreSettings } from "../../../../src/features/migration/store/fileStore.ts";
import { redisStore, type RedisStoreSettings } from "../../../../src/features/migration/store/redisStore.ts";
import type { MigrationState, StateStore } from "../../../../src/features/migration/store/stateStore.ts";

/** `getThing shadow 7`: an endpoint, its stage and the second it is from. */
export const stagesOf = ({ stages }: MigrationState): string[] =>
  Object.entries(stages)
    .map(([endpoint, { stage: name, since }]) => `${endpoint} ${name} ${new Date(since).getUTCSeconds()}`)
    .toSorted();

export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "store-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

type Told = { events: string[] };

const telling = () => {
  const events: string[] = [];
  return { events, onEvent: (event: string, about: object) => void events.push(`${event} ${JSON.stringify(about)}`) };
};

/** A store on a file, and what it told. */
export const openFile = async (
  directory: string,
  settings: Partial<FileStoreSettings> = {},
): Promise<StateStore & Told> => {
  const { events, onEvent } = telling();
  const store = await fileStore(directory, { onEvent, ...settings });
  onTestFinished(() => store.close());
  return { ...store, events };
};

/** An instance on Redis, what it told, and each state that it was told of. */
export const openRedis = async (
  url: string,
  settings: Partial<RedisStoreSettings> = {},
): Promise<StateStore & Told & { changes: MigrationState[] }> => {
  const { events, onEvent } = telling();
  const store = await redisStore({ url, timeout: 500, onEvent, ...settings });
  onTestFinished(() => store.close());
  const changes: MigrationState[] = [];
  store.onChange((state) => changes.push(state));
  return { ...store, events, changes };
};
