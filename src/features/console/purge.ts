import { z } from "zod";
import type { Invalidation } from "../../cache/sharedTier.ts";
import { parseJson } from "../../rules/parseJson.ts";

const hard = z.boolean().default(false);

/** Purges everything, a group such as `dataset/61`, or all answers of an endpoint. */
const purgeSchema = z.union([
  z.strictObject({ all: z.literal(true), hard }),
  z.strictObject({ group: z.string().min(1).max(200), hard }),
  z.strictObject({ endpoint: z.string(), hard }),
]);

/** Reads the body of a purge. It is soft unless `hard`: entries become stale and stay for errors. */
export const readPurge = (
  body: string,
  endpoints: readonly string[],
): { ok: true; invalidation: Invalidation } | { ok: false; detail: string } => {
  const allowed = `allowed is {"all": true}, {"group": "dataset/61"} or {"endpoint": one of ${endpoints.join(", ")}}, each with "hard": true or without`;
  const given = parseJson(body);
  if (given === undefined) return { ok: false, detail: `This is no JSON; ${allowed}.` };
  const read = purgeSchema.safeParse(given);
  if (!read.success) return { ok: false, detail: `This cannot be purged; ${allowed}.` };
  const { data } = read;
  if ("endpoint" in data && !endpoints.includes(data.endpoint))
    return { ok: false, detail: `There is no such endpoint; ${allowed}.` };
  const soft = !data.hard;
  if ("all" in data) return { ok: true, invalidation: { all: true, soft } };
  return {
    ok: true,
    invalidation: "group" in data ? { groups: [data.group], soft } : { endpoint: data.endpoint, soft },
  };
};
