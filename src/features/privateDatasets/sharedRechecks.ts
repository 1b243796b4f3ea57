import { z } from "zod";
import type { KeyedStore, ShareStore } from "../../store/keyedStore.ts";
import { memoryStore } from "../../store/localStore.ts";
import type { RecheckQueue } from "./recheckQueue.ts";
import { MAX_ID } from "./rows.ts";

// The primary process reads the rows. All processes know which ones, so that no list lacks a row that another process has seen.

const named = { name: "private-rechecks", schema: () => z.int(), isRebuildable: true, onEvent: () => undefined };

const idsIn = (keys: Iterable<string>): number[] => [...keys].map(Number);

/** Tells workers which rows the queue of the primary process reads, and reads those that workers ask for. */
export const announceRechecks = (share: ShareStore, queue: () => RecheckQueue) => {
  let store: KeyedStore<number> | undefined;
  const save = (id: number, count: number | undefined): void => store?.save(new Map([[String(id), count]]));
  return {
    async open(): Promise<void> {
      const onChange = (changes: ReadonlyMap<string, unknown>) => {
        for (const id of idsIn(changes.keys())) queue().add(id);
      };
      store = await share({ ...named, onChange }, (settings) => Promise.resolve(memoryStore(settings)));
    },
    begun: (id: number): void => save(id, 1),
    ended: (id: number): void => save(id, undefined),
  };
};

/** A worker's queue: the primary process reads the rows. */
export const openWorkerRechecks = (share: ShareStore) => {
  let store: KeyedStore<number> | undefined;
  /** Rows that not all processes know of yet. */
  const untold = new Map<number, number>();
  const telling = new Set<Promise<void>>();
  const waiting: (() => void)[] = [];
  const ids = (): number[] => [...new Set([...untold.keys(), ...idsIn(store?.entries().keys() ?? [])])];
  const release = (): void => {
    if (ids().length > 0) return;
    for (const resolve of waiting.splice(0)) resolve();
  };
  const tell = async (id: number): Promise<void> => {
    untold.set(id, (untold.get(id) ?? 0) + 1);
    // A number that changes: a read that is under way began too early.
    await store?.update(String(id), (count = 0) => count + 1).catch(() => undefined);
    const left = (untold.get(id) ?? 1) - 1;
    if (left > 0) untold.set(id, left);
    else untold.delete(id);
    release();
  };
  const queue: RecheckQueue = {
    add(id) {
      if (store === undefined || !(id >= 1 && id <= MAX_ID)) return;
      const one: Promise<void> = tell(id).finally(() => telling.delete(one));
      telling.add(one);
    },
    told: () => (telling.size === 0 ? undefined : Promise.all(telling).then(() => undefined)),
    outdate: () => undefined,
    has: (id) => untold.has(id) || store?.entries().has(String(id)) === true,
    ids,
    settled: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        release();
      }),
    watch: () => () => false,
  };
  const open = async (): Promise<void> => {
    store = await share({ ...named, onChange: release }, (settings) => Promise.resolve(memoryStore(settings)));
  };
  return { queue, open };
};
