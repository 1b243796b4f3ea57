import { z } from "zod";
import { MAX_COMPARED } from "./comparedRequests.ts";

/** The stages, from legacy alone to modern alone. */
export const stageNames = ["legacy", "shadow", "canary", "modern"] as const;

/**
 * The side that answers an endpoint. `legacy`: legacy alone. `shadow`: legacy, and modern is compared on a sample.
 * `canary`: modern for a share of the callers. `modern`: modern, and legacy is compared on a sample.
 */
export type StageName = (typeof stageNames)[number];

/** A share in percent. */
export const shareSchema = z.int().min(0).max(100);

/** The bounds by which an endpoint moves automatically: up if modern is proven good enough, down if proven worse. */
export const gateSchema = z.strictObject({
  /** The least share (0-1) of compared answers without an unexplained difference. */
  parity: z.number().min(0).max(1).default(0.99),
  /** Distinct requests compared and minutes since the last move that a promotion needs. */
  requests: z.int().min(1).max(MAX_COMPARED).default(500),
  minutes: z.number().min(0).max(100_000).default(10),
  /**
   * The largest share (0-1) of modern's answers that may fail, and the milliseconds that 95 % of
   * its answers stay within.
   */
  errorRate: z.number().min(0).max(1).default(0.01),
  p95: z.number().min(1).max(3_600_000).default(2000),
  /** Minutes without a promotion after a demotion. */
  hold: z.number().min(0).max(100_000).default(30),
  /** A paused gate moves nothing. */
  paused: z.boolean().optional(),
});

export type Gate = z.infer<typeof gateSchema>;

/** `share` in percent: of requests that are compared in shadow and modern, of callers in canary. */
export const stageSchema = z.strictObject({ stage: z.enum(stageNames), share: shareSchema.default(100) });

export type Stage = z.infer<typeof stageSchema>;

/** An endpoint in `STAGES`. A canary without a gate goes back automatically; with the gate `none` it never does. */
export const configuredStageSchema = stageSchema.extend({
  gate: z.union([z.literal("none"), gateSchema], '"none", or an object such as {"parity": 0.99}').optional(),
});

export type ConfiguredStage = z.infer<typeof configuredStageSchema>;

const instant = z.iso.datetime({ offset: true });

/** A stage in force, and how it came into force. */
export const stageInForceSchema = stageSchema.extend({
  /** When it was set: also identifies it. */
  since: instant,
  /** The person or part that moved the endpoint, and the reason. */
  by: z.string(),
  why: z.string(),
  /**
   * The configured stage (JSON) when this stage was set. If the configuration differs from it
   * later, the configuration wins.
   */
  configured: z.string().default(""),
});

export type StageInForce = z.infer<typeof stageInForceSchema>;

/** A stage in words: `canary, 5 % of callers`. */
export const stageText = ({ stage, share }: { stage: StageName; share: number | string }): string => {
  const meanings: Record<StageName, string> = {
    legacy: "",
    shadow: `, ${share} % mirrored`,
    canary: `, ${share} % of callers`,
    modern: `, ${share} % checked`,
  };
  return stage + meanings[stage];
};

/** True if both are the same stage with the same share. */
export const isSameStage = (a: Stage, b: Stage): boolean => a.stage === b.stage && a.share === b.share;

/** The share (0-100) of callers that modern answers; the stage `modern` is one step beyond canary's 100. */
export const callersOf = ({ stage, share }: Stage): number =>
  stage === "modern" ? 101 : stage === "canary" ? share : 0;

/** True if a move gives modern more of the callers. A move from legacy to shadow gives it none. */
export const isForward = (from: Stage, to: Stage): boolean => callersOf(to) > callersOf(from);

/** One line of the audit log. */
export const moveSchema = z.strictObject({
  at: instant,
  endpoint: z.string().min(1),
  by: z.string(),
  why: z.string(),
  from: stageSchema,
  to: stageSchema,
  /** The reason given for a step against the evidence. */
  despite: z.string().optional(),
  /** Old clients follow the move: the evidence on their answers holds, or the reason is one for them, too. */
  oldClients: z.literal(true).optional(),
  /** The time of the request to move many endpoints, if this move is part of that or undoes it. */
  all: instant.optional(),
});

export type Move = z.infer<typeof moveSchema>;

/** A line of the audit log. `undo`: it takes back its part of the move `all`. */
export type AuditMove = Move & { undo?: true };

/** The facts of a move by an operator that the audit log stores besides its author and reason. */
export type MoveNote = Pick<Move, "despite" | "oldClients" | "all">;
