import { z } from "zod";
import { storedEntrySchema } from "../../../compare/ledger.ts";
import { type Move, type StageInForce, stageNames, stageSchema } from "../stage.ts";

const instant = z.iso.datetime({ offset: true });
const moved = z.strictObject({ stage: z.enum(stageNames), share: z.int().min(0).max(100) });

export const stageInForceSchema: z.ZodType<StageInForce> = stageSchema.extend({
  since: instant,
  by: z.string(),
  why: z.string(),
  configured: z.string().optional(),
});

export const moveSchema: z.ZodType<Move> = z.strictObject({
  at: instant,
  endpoint: z.string().min(1),
  by: z.string(),
  why: z.string(),
  from: moved,
  to: moved,
});

export const expectedSchema = storedEntrySchema;
