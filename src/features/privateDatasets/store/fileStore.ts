import { join } from "node:path";
import { z } from "zod";
import { holdDirectory } from "../../../store/dataDirectory.ts";
import { formatOf, readJsonFile, writeDurably } from "../../../store/jsonFile.ts";
import { rowSchema, walkSchema } from "../rows.ts";
import type { IndexStoreParts, OpenIndexStore } from "./indexStore.ts";
import { openLateWrites } from "./lateWrites.ts";

const FORMAT = 1;

const schema = z.strictObject({
  format: formatOf(FORMAT),
  of: z.string(),
  walk: walkSchema,
  rows: z.array(rowSchema),
});

/** Milliseconds between two writes: each writes all there is. */
const DELAY = 2000;

export type FileStoreSettings = {
  directory: string;
  /** Which legacy it is of. */
  scope: string;
  /** Milliseconds from a save until it is written. */
  delay?: number;
};

/** Kept in `private-rows.json` in a directory that is this process's alone. */
export const fileStore =
  ({ directory, scope, delay = DELAY }: FileStoreSettings): OpenIndexStore =>
  async ({ snapshot, onChange, onEvent }) => {
    const unlock = await holdDirectory(directory, "private-rows.lock");
    const file = join(directory, "private-rows.json");
    await readInto(file, scope, { onChange, onEvent });

    const writes = openLateWrites({
      delay,
      write: () => writeDurably(file, `${JSON.stringify({ format: FORMAT, of: scope, ...snapshot() })}\n`),
      onStatus: (status, about) => onEvent(`private_index_store_${status}`, { file, ...about }),
    });
    let closing: Promise<void> | undefined;
    return {
      kind: "directory",
      save: () => writes.ask(),
      // Nobody else has this directory.
      mayWalk: () => true,
      close: () => (closing ??= writes.close().then(unlock)),
    };
  };

/** What is not understood can be found anew: it stops no start, and the next write takes its place. */
const readInto = async (
  file: string,
  scope: string,
  { onChange, onEvent }: Omit<IndexStoreParts, "snapshot">,
): Promise<void> => {
  const tellUnreadable = (why: string) => onEvent("private_index_store_unreadable", { file, why });
  const kept = await readJsonFile(file, schema).catch((error: Error) => tellUnreadable(error.message));
  if (!kept) return;
  if (kept.of !== scope) tellUnreadable("it is of another legacy");
  else onChange({ rows: kept.rows, gone: [], walk: kept.walk }, true);
};
