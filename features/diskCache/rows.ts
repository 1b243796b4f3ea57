/**
 * An entry to store: its key, all names by which it can be invalidated (a JSON list), its head and its body, as
 * `storedEntry.ts` has them.
 */
export type EntryRow = { key: string; names: string; head: string; body: Uint8Array };

/** Bytes before the texts and the body of an entry: their four lengths. */
const LENGTHS = 16;
/** Bytes of a character at most. */
const MAX_CHARACTER = 3;

/**
 * Rows in a block of memory that both threads share: a message with their texts would take several times as long, and
 * make the garbage collector work.
 */
export class Rows {
  readonly block: SharedArrayBuffer;
  readonly #bytes: Buffer;
  count = 0;
  /** Bytes that the rows take. */
  length = 0;

  constructor(size: number) {
    this.block = new SharedArrayBuffer(size);
    this.#bytes = Buffer.from(this.block);
  }

  /** The most bytes that a row takes. */
  static sizeOf({ key, names, head, body }: EntryRow): number {
    return LENGTHS + MAX_CHARACTER * (key.length + names.length + head.length) + body.length;
  }

  hasRoom(row: EntryRow): boolean {
    return this.length + Rows.sizeOf(row) <= this.#bytes.length;
  }

  add({ key, names, head, body }: EntryRow): void {
    let [at, end] = [this.length, this.length + LENGTHS];
    for (const text of [key, names, head]) {
      const length = this.#bytes.write(text, end);
      at = this.#bytes.writeUInt32LE(length, at);
      end += length;
    }
    this.#bytes.writeUInt32LE(body.length, at);
    this.#bytes.set(body, end);
    this.length = end + body.length;
    this.count++;
  }

  /** The block is used again. */
  clear(): void {
    this.count = 0;
    this.length = 0;
  }
}

/** Reads so many rows of a block. Their bodies stay in it. */
export const readRows = (block: SharedArrayBuffer, count: number): EntryRow[] => {
  const bytes = Buffer.from(block);
  let end = 0;
  return Array.from({ length: count }, () => {
    const lengths = [0, 4, 8, 12].map((place) => bytes.readUInt32LE(end + place));
    end += LENGTHS;
    const [key, names, head, body] = lengths.map((length) => bytes.subarray(end, (end += length)));
    return { key: String(key), names: String(names), head: String(head), body: body as Uint8Array };
  });
};
