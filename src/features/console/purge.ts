import { z } from "zod";
import type { Invalidation } from "../../cache/sharedTier.ts";

const hard = z.boolean().default(false);

/** What is to be purged: everything, a group such as `dataset/61`, or all answers of an endpoint. */
const purgeSchema = z.union([
  z.strictObject({ all: z.literal(true), hard }),
  z.strictObject({ group: z.string().min(1).max(200), hard }),
  z.strictObject({ endpoint: z.string(), hard }),
]);

/** `{"group": "dataset/61"}` -> what the cache is told; or what is allowed. Soft unless `hard`: stale rather than gone. */
export const readPurge = (body: string, endpoints: readonly string[]): { drop: Invalidation } | { problem: string } => {
  const allowed = `allowed is {"all": true}, {"group": "dataset/61"} or {"endpoint": one of ${endpoints.join(", ")}}, each with "hard": true or without`;
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch {
    return { problem: `This is no JSON; ${allowed}.` };
  }
  const read = purgeSchema.safeParse(given);
  if (!read.success) return { problem: `This cannot be purged; ${allowed}.` };
  const { data } = read;
  if ("endpoint" in data && !endpoints.includes(data.endpoint))
    return { problem: `There is no such endpoint; ${allowed}.` };
  const soft = !data.hard;
  if ("all" in data) return { drop: { all: true, soft } };
  return { drop: "group" in data ? { groups: [data.group], soft } : { endpoint: data.endpoint, soft } };
};
