import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";

// A small file beside the entries shows at a start if they lack an invalidation. It has the number of their last
// invalidation, in 8 bytes, and a byte that is 1 in a gap, in which invalidations could not be written. Marks need no
// more room on the disk, so that most troubled disks take them, or take them later.
const GAP = 8;
const BYTES = 9;

export const marksOf = (file: string): string => `${file}.marks`;

/** Makes the marks for new entries. */
export const beginMarks = (path: string): void => writeFileSync(path, Buffer.alloc(BYTES), { mode: 0o600 });

/** The reason why the entries lack an invalidation. `invalidated`: the number of their last. */
export const lackBy = (path: string, invalidated: number): string | undefined => {
  if (!existsSync(path)) return "its marks are missing";
  const marks = readFileSync(path);
  if (marks.length !== BYTES) return "its marks are cut off";
  if (marks[GAP] === 1) return "a write was not written to it before the gateway ended";
  return marks.readBigUInt64LE() > invalidated ? "its end is cut off" : undefined;
};

/** The entries have had the invalidation with this number. */
export const markInvalidated = (path: string, number: number): void => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  const descriptor = openSync(path, "r+");
  try {
    writeSync(descriptor, bytes, 0, 8, 0);
  } finally {
    closeSync(descriptor);
  }
};

/** Marks a gap, or its end, beside the thread of the entries, which may hang. Without marks there are no entries. */
export const markGap = async (path: string, isGap: boolean): Promise<void> => {
  if (!existsSync(path)) return;
  await using file = await open(path, "r+");
  await file.write(Buffer.of(isGap ? 1 : 0), 0, 1, GAP);
  await file.datasync();
};
