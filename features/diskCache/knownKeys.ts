/** Bytes of an entry's file for which there is a counter, and the most counters. */
const BYTES_PER_COUNTER = 1024;
const MAX_COUNTERS = 16 * 1024 ** 2;
/** A counter that has reached it is not counted down any more. */
const FULL = 255;

/** The number by which an entry is found in the file: 48 bits, an FNV-1a hash of its key from either end. */
export const numberOf = (key: string): number => {
  let [low, high] = [0x811c9dc5, 0x811c9dc5];
  for (let i = 0; i < key.length; i++) {
    low = Math.imul(low ^ key.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ key.charCodeAt(key.length - 1 - i), 0x01000193);
  }
  return (high & 0xffff) * 2 ** 32 + (low >>> 0);
};

/**
 * Counts the entries of the file in memory that both threads share, so that most look-ups of what it does not have
 * need no message. Each entry is counted at a place that follows from its number; several may have the same place.
 */
export class KnownKeys {
  /** The memory, for the other thread. Its first byte is 1 once all entries are counted. */
  readonly shared: SharedArrayBuffer;
  readonly #counts: Uint8Array;

  /** `size`: the bytes of the file at most, or the memory of the other thread. */
  constructor(size: number | SharedArrayBuffer) {
    this.shared =
      typeof size === "number"
        ? new SharedArrayBuffer(1 + Math.min(MAX_COUNTERS, Math.ceil(size / BYTES_PER_COUNTER)))
        : size;
    this.#counts = new Uint8Array(this.shared);
  }

  get areComplete(): boolean {
    return this.#counts[0] === 1;
  }

  /** True if the entry with this number may be in the file. */
  mayHave(number: number): boolean {
    return !this.areComplete || this.#counts[this.#placeOf(number)] !== 0;
  }

  /** Another file was opened: until its entries are counted, it may have any. */
  forget(): void {
    // New memory is zero already, and takes no room until it is written.
    if (this.areComplete) this.#counts.fill(0);
  }

  /** All entries are counted. */
  complete(): void {
    this.#counts[0] = 1;
  }

  add(number: number): void {
    const place = this.#placeOf(number);
    const count = this.#counts[place] as number;
    if (count < FULL) this.#counts[place] = count + 1;
  }

  remove(number: number): void {
    const place = this.#placeOf(number);
    const count = this.#counts[place] as number;
    if (count < FULL) this.#counts[place] = count - 1;
  }

  #placeOf(number: number): number {
    return 1 + (number % (this.#counts.length - 1));
  }
}
