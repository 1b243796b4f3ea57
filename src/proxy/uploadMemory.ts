/** Bodies of up to so many bytes are collected without a place in the memory: their number is bounded by the clients' connections. */
export const TINY_BODY = 4096;

/** A body that is being collected. */
export type Collection = {
  /** The address of the client that sends it. */
  readonly client: string;
  /** Milliseconds that its client may still be silent; `undefined` where enough has come, and it waits for the upstream. */
  readonly credit: number | undefined;
  /** Ends it, for the sake of another one. */
  giveUp(): void;
};

/** The memory for bodies that are collected before they are sent, shared by all requests. */
export type UploadMemory = {
  /** Lets a collection hold so many bytes from now on; false where that is not possible, even by ending others. */
  hold(collection: Collection, bytes: number): boolean;
  release(collection: Collection): void;
};

/**
 * Opens a memory of `size` bytes. Where it is full, the slowest of the unfinished collections is ended, never the one that grows: clients that
 * stop in the middle of a body must not keep others from sending theirs. Where one client holds more than half, it is the slowest of that client's.
 */
export const openUploadMemory = (size: number): UploadMemory => {
  const held = new Map<Collection, number>();
  const clients = new Map<string, number>();
  let free = size;

  const set = (collection: Collection, bytes: number): void => {
    const more = bytes - (held.get(collection) ?? 0);
    if (more === 0) return;
    free -= more;
    if (bytes === 0) held.delete(collection);
    else held.set(collection, bytes);
    const ofClient = (clients.get(collection.client) ?? 0) + more;
    if (ofClient === 0) clients.delete(collection.client);
    else clients.set(collection.client, ofClient);
  };

  const slowestOf = (growing: Collection, isOf: (client: string) => boolean): Collection | undefined => {
    let slowest: Collection | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const collection of held.keys()) {
      if (collection === growing || !isOf(collection.client)) continue;
      const { credit } = collection;
      if (credit === undefined || credit >= least) continue;
      least = credit;
      slowest = collection;
    }
    return slowest;
  };

  const victimOf = (growing: Collection): Collection | undefined => {
    for (const [most, bytes] of clients) {
      if (bytes <= size / 2) continue;
      const ofMost = slowestOf(growing, (client) => client === most);
      if (ofMost !== undefined) return ofMost;
    }
    return slowestOf(growing, () => true);
  };

  return {
    hold(collection, bytes) {
      if (bytes > size) return false;
      const fits = (): boolean => bytes - (held.get(collection) ?? 0) <= free;
      while (!fits()) {
        const victim = victimOf(collection);
        if (victim === undefined) return false;
        set(victim, 0);
        victim.giveUp();
      }
      set(collection, bytes);
      return true;
    },
    release: (collection) => set(collection, 0),
  };
};
