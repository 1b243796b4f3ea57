import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";

/** The places of the marks in their file, each a number of 8 bytes. */
const places = { invalidated: 0, gapsBegun: 8, gapsClosed: 16 };
const BYTES = 24;

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

/**
 * Marks the beginning of a gap, and returns its number. Called in another thread than the one that holds the file,
 * which may hang, or have ended: it opens the marks itself.
 *
 * @throws If there are no marks. A start that finds none uses no entries either.
 */
export const markGap = async (path: string): Promise<number> => {
  const file = await open(path, "r+");
  try {
    const mark = Buffer.alloc(8);
    await file.read(mark, 0, 8, places.gapsBegun);
    const gap = Number(mark.readBigUInt64LE()) + 1;
    await file.write(numberBytes(gap), 0, 8, places.gapsBegun);
    return gap;
  } finally {
    await file.close();
  }
};
