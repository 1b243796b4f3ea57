import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";

/** The places of the marks in their file, each a number of 8 bytes. */
const places = { invalidated: 0, gapsBegun: 8, gapsClosed: 16 };
const BYTES = 24;

export const marksIn = (directory: string): string => join(directory, "catalog-gateway-cache.sqlite.marks");

/**
 * A small file beside the entries. It shows at a start if the entries lack an invalidation: the last one that they had,
 * and how many gaps, in which invalidations could not be written, have begun and were closed. A mark is one call to
 * the system that needs no room on the disk, so that most troubled disks take it, or take it later.
 */
export class Marks {
  readonly #descriptor: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, "r+");
  }

  /** Makes the file for new entries. */
  static begin(path: string): void {
    const descriptor = openSync(path, "w", 0o600);
    writeSync(descriptor, Buffer.alloc(BYTES));
    closeSync(descriptor);
  }

  /** The reason why the entries lack an invalidation. `invalidated`: the number of the last one that they had. */
  lack(invalidated: number): string | undefined {
    const marks = Buffer.alloc(BYTES);
    if (fstatSync(this.#descriptor).size !== BYTES) return "its marks are cut off";
    readSync(this.#descriptor, marks, 0, BYTES, 0);
    if (marks.readBigUInt64LE(places.gapsBegun) !== marks.readBigUInt64LE(places.gapsClosed))
      return "a write was not written to it before the gateway ended";
    return marks.readBigUInt64LE(places.invalidated) > invalidated ? "its end is cut off" : undefined;
  }

  get gapsBegun(): number {
    const mark = Buffer.alloc(8);
    readSync(this.#descriptor, mark, 0, 8, places.gapsBegun);
    return Number(mark.readBigUInt64LE());
  }

  /** The entries have had this invalidation. */
  invalidated(number: number): void {
    writeSync(this.#descriptor, numberBytes(number), 0, 8, places.invalidated);
  }

  /** All invalidations of this gap, and of those before it, were written. */
  closed(gap: number): void {
    writeSync(this.#descriptor, numberBytes(gap), 0, 8, places.gapsClosed);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

const numberBytes = (number: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return bytes;
};

/** Marks the beginning of a gap. */
export const markGap = (file: FileHandle, gap: number): Promise<unknown> =>
  file.write(numberBytes(gap), 0, 8, places.gapsBegun);
