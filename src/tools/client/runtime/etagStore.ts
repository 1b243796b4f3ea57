/** An answer that may be shown again while its validator holds. */
export type Stored = { etag: string; text: string };

/** Answers by request, the least recently used ones given up first. */
export type EtagStore = {
  get(key: string): Stored | undefined;
  set(key: string, stored: Stored): void;
  /** Characters that it holds, in keys and answers. */
  size(): number;
};

/** A store of at most `most` characters. An answer that takes more than a quarter of them is not stored. */
export const openEtagStore = (most: number): EtagStore => {
  const entries = new Map<string, Stored>();
  let size = 0;
  const sizeOf = (key: string, { etag, text }: Stored): number => key.length + etag.length + text.length;
  const remove = (key: string): void => {
    const there = entries.get(key);
    if (there === undefined) return;
    size -= sizeOf(key, there);
    entries.delete(key);
  };
  return {
    get(key) {
      const there = entries.get(key);
      if (there !== undefined) {
        entries.delete(key);
        entries.set(key, there);
      }
      return there;
    },
    set(key, stored) {
      remove(key);
      const more = sizeOf(key, stored);
      if (more > most / 4) return;
      entries.set(key, stored);
      size += more;
      for (const oldest of entries.keys()) {
        if (size <= most) break;
        remove(oldest);
      }
    },
    size: () => size,
  };
};
