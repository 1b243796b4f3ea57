import { z } from "zod";
import { parseJson } from "../../../src/catalogue/index.ts";
import { shareSchema, stageNames, stageSchema } from "../stage.ts";

const needed = "a text of 1 to 500 characters is needed";
const line = z.string(needed).max(500, needed).trim().min(1, needed);

/** The operator who moves, the reason, and the reason for a step against the evidence. */
const who = { by: line, why: line, despite: line.optional() };

const moveSchema = stageSchema.extend(who);
const moveAllowed =
  'allowed is {"stage": "legacy", "shadow", "canary" or "modern", "share": 0 to 100, "by": "who", "why": "..."}, and "despite": "..." for a step against the evidence; gates are set in STAGES';

export const readMove = (text: string): Read<typeof moveSchema> => readBody(text, moveSchema, moveAllowed);

const jointMoveSchema = z
  .strictObject({
    stage: z.enum([...stageNames, "former", "lost"]),
    share: shareSchema.optional(),
    endpoints: z.literal("reads").optional(),
    ...who,
  })
  .refine(
    ({ stage, share, endpoints }) =>
      stage === "legacy" || stage === "former" || stage === "lost"
        ? share === undefined && endpoints === undefined
        : endpoints !== undefined,
    { path: ["stage"], error: "legacy, former and lost move all endpoints, the other stages those that read" },
  );
const jointAllowed =
  'allowed is {"stage": "legacy", "former" or "lost", "by": "who", "why": "..."} or {"stage": "shadow", "canary" or "modern", "share": 0 to 100, "endpoints": "reads", "by": "who", "why": "..."}, and "despite": "..." for steps against the evidence';

/** A request to move many endpoints. */
export type JointMoveRequest = z.infer<typeof jointMoveSchema>;

export const readJointMove = (text: string): Read<typeof jointMoveSchema> =>
  readBody(text, jointMoveSchema, jointAllowed);

/** A body that fits the schema, or its first error in one sentence. */
type Read<T extends z.ZodType> = { ok: true; value: z.infer<T> } | { ok: false; detail: string };

const readBody = <T extends z.ZodType>(text: string, schema: T, allowed: string): Read<T> => {
  const json = parseJson(text);
  if (json === undefined) return { ok: false, detail: `This is no JSON; ${allowed}.` };
  const read = schema.safeParse(json);
  if (read.success) return { ok: true, value: read.data };
  const [issue] = read.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return { ok: false, detail: `${at}${issue?.message ?? "wrong"}; ${allowed}.` };
};
