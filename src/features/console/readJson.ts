import type { z } from "zod";

/** A body as the schema wants it, or what is wrong with it, as one sentence. */
export const readJson = <T extends z.ZodType>(
  text: string,
  schema: T,
  allowed: string,
): { value: z.infer<T> } | { problem: string } => {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return { problem: `This is no JSON; ${allowed}.` };
  }
  const read = schema.safeParse(given);
  if (read.success) return { value: read.data };
  const [issue] = read.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return { problem: `${at}${issue?.message ?? "wrong"}; ${allowed}.` };
};
