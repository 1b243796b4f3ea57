import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { syncDirectory } from "./syncDirectory.ts";

/** The number in a file that says how to read it: no version takes another one's for its own. */
export const formatOf = <N extends number>(format: N): z.ZodLiteral<N> =>
  z.literal(format, `another version's format; this one reads ${format}`);

/** What the file holds; nothing where there is none. Throws where it is not understood, with what is said after the file's name. */
export const readJsonFile = async <T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> => {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(code === undefined ? `is not valid JSON (${message})` : `cannot be read (${code})`, {
      cause: error,
    });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const found = parsed.error.issues.slice(0, 5).map(({ path, message }) => `/${path.join("/")}: ${message}`);
  throw new Error(`is not what was written here: ${found.join("; ")}`, { cause: parsed.error });
};

/** For this user alone. Comes back when it is on the disk; a crash at any moment leaves the old file or the new one. */
export const writeDurably = async (file: string, text: string): Promise<void> => {
  const temporary = `${file}.tmp`;
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncDirectory(dirname(file));
};
