import { MAX_ID } from "./idSet.ts";

/** Ids that may wait to be read next. The next scan reads the others. */
const MAX_WAITING = 1000;

/**
 * Opens an empty queue of ids that are to be read before all others, because a write has named them. `onAdded` is
 * called with each id that is added.
 */
export const openReadQueue = (onAdded: () => void) => {
  /** Each id with the number of the call that added it last. */
  const waiting = new Map<number, number>();
  let calls = 0;
  let empty = Promise.withResolvers<void>();
  return {
    /**
     * Adds an id at the end, also if it is being read. Any request can name an id that no
     * dataset has: it is ignored.
     */
    add(id: number): void {
      if (!(id >= 1 && id <= MAX_ID) || waiting.size >= MAX_WAITING) return;
      if (waiting.size === 0) empty = Promise.withResolvers();
      waiting.delete(id);
      waiting.set(id, ++calls);
      onAdded();
    },
    /**
     * Reads the ids, one at a time. An id that is added again while it is read is read again.
     *
     * @throws As `read` does; the ids that are left stay in the queue.
     */
    async drain(read: (id: number) => Promise<void>): Promise<void> {
      for (const [id, call] of waiting) {
        await read(id);
        if (waiting.get(id) === call) waiting.delete(id);
      }
      empty.resolve();
    },
    ids: (): number[] => [...waiting.keys()],
    isEmpty: (): boolean => waiting.size === 0,
    /** Resolves when the queue is empty or is given up. */
    whenEmpty: (): Promise<void> => (waiting.size === 0 ? Promise.resolve() : empty.promise),
    /** Ends the waits for an empty queue: its ids cannot be read now. */
    giveUp: (): void => empty.resolve(),
  };
};
