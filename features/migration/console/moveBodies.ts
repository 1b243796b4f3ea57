import { z } from "zod";
import { parseJson } from "../../../src/catalogue/index.ts";
import { shareSchema, stageNames, stageSchema } from "../stage.ts";

/** Makes the function that reads a body: the value if it fits the schema, else its first error in one sentence. */
const bodyReader =
  <T extends z.ZodType>(schema: T, allowed: string) =>
  (text: string): { ok: true; value: z.infer<T> } | { ok: false; detail: string } => {
    const json = parseJson(text);
    if (json === undefined) return { ok: false, detail: `This is no JSON; ${allowed}.` };
    const read = schema.safeParse(json);
    if (read.success) return { ok: true, value: read.data };
    const [issue] = read.error.issues;
    const at = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
    return { ok: false, detail: `${at}${issue?.message ?? "wrong"}; ${allowed}.` };
  };

const needed = "a text of 1 to 500 characters is needed";
const line = z.string(needed).max(500, needed).trim().min(1, needed);

/** The operator who moves, the reason, and the reason for a step against the evidence. */
const who = { by: line, why: line, despite: line.optional() };

const moveSchema = stageSchema.extend(who);
const moveAllowed =
  'allowed is {"stage": "legacy", "shadow", "canary" or "modern", "share": 0 to 100, "by": "who", "why": "..."}, and "despite": "..." for a step against the evidence; gates are set in STAGES';

export const readMove = bodyReader(moveSchema, moveAllowed);

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

export const readJointMove = bodyReader(jointMoveSchema, jointAllowed);
