import { closeSync, openSync, readSync } from "node:fs";

/**
 * The text of a file or pipe of at most `max` bytes, or the reason of a failure: `ENOENT` and the like, or its size. A
 * device without an end is read no further than that.
 */
export const readText = (path: string, max: number): { text: string } | { why: string } => {
  const buffer = Buffer.alloc(max + 1);
  let length = 0;
  try {
    const file = openSync(path, "r");
    try {
      for (let read = -1; read !== 0 && length <= max; length += read)
        read = readSync(file, buffer, length, buffer.length - length, null);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { why: code ?? message };
  }
  return length > max ? { why: `more than ${max} bytes` } : { text: buffer.toString("utf8", 0, length) };
};
