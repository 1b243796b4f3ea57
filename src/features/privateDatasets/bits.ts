/** A set of small non-negative integers, a bit each. */
export type Bits = { has(n: number): boolean; add(n: number): void; toText(): string };

/** `text`: base64 of the bits, the lowest first. */
export const bitsOf = (text = ""): Bits => {
  let bytes = Buffer.from(text, "base64");
  return {
    has: (n) => ((bytes[n >> 3] ?? 0) & (1 << (n & 7))) !== 0,
    add(n) {
      const at = n >> 3;
      if (at >= bytes.length)
        bytes = Buffer.concat([bytes, Buffer.alloc(Math.max(at + 1 - bytes.length, bytes.length))]);
      bytes[at] = (bytes[at] ?? 0) | (1 << (n & 7));
    },
    toText: () => bytes.toString("base64"),
  };
};
