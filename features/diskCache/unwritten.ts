import type { EntryRow } from "./entryFile.ts";

/** Bytes of a block, and the most blocks. An entry that is larger than a block gets one of its own size. */
const BLOCK_BYTES = 1024 ** 2;
const MAX_BLOCKS = 4;

/**
 * Entries on their way to the file, in blocks of memory that both threads share. A block is filled further while the
 * thread stores its beginning: each write of a client sends the few entries before it, too few for a block each.
 */
export class Unwritten {
  #rows: EntryRow[] = [];
  /** The block that is filled, and how much of it. */
  #block: SharedArrayBuffer | undefined;
  #length = 0;
  /** How many times each block was taken and not yet given back. */
  readonly #taken = new Map<SharedArrayBuffer, number>();
  readonly #free: SharedArrayBuffer[] = [];
  #blocks = 0;

  hasRoom(body: Uint8Array): boolean {
    return this.#block === undefined || this.#length + body.length <= this.#block.byteLength;
  }

  /** Collects an entry. If the block has no room for it, the entries before it must have been taken. */
  add(row: Pick<EntryRow, "key" | "names" | "head">, body: Uint8Array): boolean {
    if (!this.hasRoom(body)) this.#leaveBlock();
    this.#block ??= this.#next(body.length);
    // All blocks wait for the disk.
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
    if (this.#block === undefined || this.#rows.length === 0) return undefined;
    const taken = { rows: this.#rows, block: this.#block };
    this.#rows = [];
    this.#taken.set(this.#block, 1 + (this.#taken.get(this.#block) ?? 0));
    return taken;
  }

  release(block: SharedArrayBuffer): void {
    const left = (this.#taken.get(block) ?? 0) - 1;
    if (left > 0) return void this.#taken.set(block, left);
    this.#taken.delete(block);
    if (block !== this.#block) this.#giveBack(block);
    else if (this.#rows.length === 0) this.#leaveBlock();
  }

  #leaveBlock(): void {
    const block = this.#block;
    this.#block = undefined;
    this.#length = 0;
    if (block !== undefined && !this.#taken.has(block)) this.#giveBack(block);
  }

  #giveBack(block: SharedArrayBuffer): void {
    if (block.byteLength === BLOCK_BYTES) this.#free.push(block);
    else this.#blocks--;
  }
}
