import type { Changes, KeyedStore, KeyedStoreSettings } from "../store/keyedStore.ts";
import { receivedChanges, type SentChanges, sentChanges, type SentUpdate, type UpdateAnswer } from "./hostStore.ts";

/** What a worker asks the primary process, which keeps the store. */
export type StoreRequests = {
  /** Resolves when `onChanges` has got all values. It gets every change from then on. */
  open: (onChanges: (changes: SentChanges) => void) => Promise<KeyedStore<unknown>["kind"]>;
  update: (update: SentUpdate) => Promise<UpdateAnswer>;
  save: (changes: SentChanges, isMinor: boolean) => void;
};

/** Others may change the value this often while one change is made. */
const MAX_ROUNDS = 10;

/** Opens a worker's copy of a store that the primary process keeps. It never holds the lease. */
export const copiedStore = async <T>(
  { schema, onChange }: Pick<KeyedStoreSettings<T>, "schema" | "onChange">,
  { open, update, save }: StoreRequests,
): Promise<KeyedStore<T>> => {
  const values = new Map<string, T>();
  let snapshot: ReadonlyMap<string, T> | undefined;
  let isOpen = false;
  const become = (changes: Changes<T>): void => {
    snapshot = undefined;
    for (const [key, value] of changes) {
      if (value === undefined) values.delete(key);
      else values.set(key, value);
    }
  };
  const kind = await open((sent) => {
    const changes = receivedChanges<T>(sent);
    become(changes);
    if (isOpen) onChange(changes);
  });
  isOpen = true;
  return {
    kind,
    entries: () => (snapshot ??= new Map(values)),
    // The primary process refuses what needs to know it.
    isUnreadable: () => false,
    async update(key, make) {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const seen = values.get(key);
        const made = make(seen);
        if (made === undefined) return false;
        const { done, latest } = await update({ key, seen, made: schema(key).parse(made) });
        become(new Map([[key, latest as T | undefined]]));
        if (done) return true;
      }
      throw new Error("others change it all the time");
    },
    save(changes, { isMinor = false } = {}) {
      become(changes);
      save(sentChanges(changes), isMinor);
    },
    holdsLease: () => false,
    close: () => Promise.resolve(),
  };
};
