import type { EntryRow } from "./entryFile.ts";

/** Bytes of a block, and the most blocks. An entry that is larger than a block gets one of its own size. */
const BLOCK_BYTES = 1024 ** 2;
const MAX_BLOCKS = 4;

/** Entries on their way to the file, in blocks of memory that both threads share. */
export class Unwritten {
  #rows: EntryRow[] = [];
  #block: SharedArrayBuffer | undefined;
  #length = 0;
  readonly #free: SharedArrayBuffer[] = [];
  #blocks = 0;

  hasRoom(body: Uint8Array): boolean {
    return this.#block === undefined || this.#length + body.length <= this.#block.byteLength;
  }

  has(key: string): boolean {
    return this.#rows.some((row) => row.key === key);
  }

  /** Collects an entry. False if all blocks wait for the disk. */
  add(row: Pick<EntryRow, "key" | "names" | "head">, body: Uint8Array): boolean {
    this.#block ??= this.#next(body.length);
    if (this.#block === undefined) return false;
    this.#rows.push({ ...row, at: this.#length, length: body.length });
    new Uint8Array(this.#block).set(body, this.#length);
    this.#length += body.length;
    return true;
  }

  #next(length: number): SharedArrayBuffer | undefined {
    const free = length > BLOCK_BYTES ? undefined : this.#free.pop();
    if (free !== undefined) return free;
    if (this.#blocks === MAX_BLOCKS) return undefined;
    this.#blocks++;
    return new SharedArrayBuffer(Math.max(BLOCK_BYTES, length));
  }

  /** Takes the collected entries; `undefined` if there are none. The block is to be given back by `release`. */
  take(): { rows: readonly EntryRow[]; block: SharedArrayBuffer } | undefined {
    if (this.#block === undefined) return undefined;
    const taken = { rows: this.#rows, block: this.#block };
    this.#rows = [];
    this.#block = undefined;
    this.#length = 0;
    return taken;
  }

  release(block: SharedArrayBuffer): void {
    if (block.byteLength === BLOCK_BYTES) this.#free.push(block);
    else this.#blocks--;
  }
}
