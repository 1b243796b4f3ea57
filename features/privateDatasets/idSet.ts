/** The highest id that is accepted: each id takes a bit. */
export const MAX_ID = 2 ** 24;

/** A set of ids that takes a bit for each. */
export type IdSet = ReturnType<typeof openIdSet>;

/** Opens the set of all ids in a text; without a text it is empty. */
export const openIdSet = (text = "") => {
  let bytes = Buffer.from(text, "base64");
  return {
    has: (id: number): boolean => ((bytes[id >> 3] ?? 0) & (1 << (id & 7))) !== 0,
    add(id: number): void {
      const at = id >> 3;
      if (at >= bytes.length)
        bytes = Buffer.concat([bytes, Buffer.alloc(Math.max(at + 1 - bytes.length, bytes.length))]);
      bytes[at] = (bytes[at] ?? 0) | (1 << (id & 7));
    },
    delete(id: number): void {
      if (id >> 3 < bytes.length) bytes[id >> 3] = (bytes[id >> 3] ?? 0) & ~(1 << (id & 7));
    },
    /** The bits in base64, the lowest first. */
    toText: (): string => bytes.toString("base64"),
  };
};
