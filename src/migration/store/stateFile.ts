import { constants } from "node:fs";
import { access, mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { ledgerSchema } from "../../compare/ledger.ts";
import { nothingSet } from "./nextState.ts";
import { moveSchema, stageInForceSchema } from "./schemas.ts";
import type { MigrationState } from "./stateStore.ts";

const FORMAT = 1;

const schema = z.strictObject({
  format: z.literal(FORMAT, `another version's format; this one reads ${FORMAT}`),
  stages: z.record(z.string(), stageInForceSchema),
  audit: z.array(moveSchema),
  expected: ledgerSchema,
});

const nameIn = (directory: string): string => join(directory, "migration.json");

/** What the directory's file holds; nothing set where there is none. Throws where it is not understood, and leaves it as it is. */
export const readState = async (directory: string): Promise<MigrationState> => {
  const file = nameIn(directory);
  const refuse = (why: string, cause: unknown) =>
    new Error(`${file} ${why}; it is left as it is: repair it, or move it away to begin with nothing set`, { cause });
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return nothingSet;
    throw refuse(code === undefined ? `is not valid JSON (${message})` : `cannot be read (${code})`, error);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const found = parsed.error.issues.slice(0, 5).map(({ path, message }) => `/${path.join("/")}: ${message}`);
    throw refuse(`is not what was written here: ${found.join("; ")}`, parsed.error);
  }
  const { format: _, ...state } = parsed.data;
  return state;
};

/** Comes back when it is on the disk; a crash at any moment leaves the old file or the new one. */
export const writeState = async (directory: string, state: MigrationState): Promise<void> => {
  const file = nameIn(directory);
  const temporary = `${file}.tmp`;
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ format: FORMAT, ...state }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncDirectory(directory);
};

/** Makes it where it is not there, for this user alone; throws where it cannot be written to. */
export const makeDirectory = async (directory: string): Promise<void> => {
  const whole = resolve(directory);
  const first = await mkdir(whole, { recursive: true, mode: 0o700 });
  // A directory is on the disk when the one that it stands in is.
  const last = first === undefined ? whole : dirname(first);
  for (let at = whole; at !== last; at = dirname(at)) await syncDirectory(dirname(at));
  await access(whole, constants.R_OK | constants.W_OK | constants.X_OK);
};

const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
