import { readFile } from "node:fs/promises";
import { z } from "zod";

/** The number in a file that says how to read it: a file with another number is refused. */
export const formatOf = <N extends number>(format: N): z.ZodLiteral<N> =>
  z.literal(format, `another version's format; this one reads ${format}`);

/** What the file holds; `undefined` if there is no file. Rejects, with a text that continues the file's name, if it does not match the schema. */
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
  throw new Error(`is not what was written here: ${describeIssues(parsed.error)}`, { cause: parsed.error });
};

/** The first few places where a value departs from its schema: `/rows/0/id: expected number; ...`. */
export const describeIssues = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `/${path.join("/")}: ${message}`)
    .join("; ");
