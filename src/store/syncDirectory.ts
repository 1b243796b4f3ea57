import { open } from "node:fs/promises";

/** Comes back when the names in it are on the disk. */
export const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
