import { z } from "zod";
import { MAX_COMPARED } from "./comparedRequests.ts";

/** The stages, from legacy alone to modern alone. */
export const stageNames = ["legacy", "shadow", "canary", "modern"] as const;

/**
 * Which side answers an endpoint. `legacy`: legacy alone. `shadow`: legacy, and modern is compared on a sample. `canary`: modern for a share
 * of the callers. `modern`: modern, and legacy is compared on a sample.
 */
export type StageName = (typeof stageNames)[number];

const percentage = z.int().min(0).max(100);

/** When an endpoint moves by itself: up if modern is proven good enough, down if it is proven worse. */
export const gateSchema = z.strictObject({
  /** The least share (0-1) of compared answers without an unexplained difference. */
  parity: z.number().min(0).max(1).default(0.99),
  /** Distinct requests compared and minutes since the last move that a promotion needs. */
  requests: z.int().min(1).max(MAX_COMPARED).default(500),
  minutes: z.number().min(0).max(100_000).default(10),
  /** The largest share (0-1) of modern's answers that may fail, and the milliseconds that 95 % of its answers stay within. */
  errorRate: z.number().min(0).max(1).default(0.01),
  p95: z.number().min(1).max(3_600_000).default(2000),
  /** Minutes without a promotion after a demotion. */
  hold: z.number().min(0).max(100_000).default(30),
  /** A paused gate moves nothing. */
  paused: z.boolean().optional(),
});

/** A gate with all its bounds. */
export type Gate = z.infer<typeof gateSchema>;

/** `share` in percent: of requests that are compared in shadow and modern, of callers in canary. */
export const stageSchema = z.strictObject({ stage: z.enum(stageNames), share: percentage.default(100) });

/** A stage with its share. */
export type Stage = z.infer<typeof stageSchema>;

/** An endpoint as `STAGES` has it. */
export const configuredStageSchema = stageSchema.extend({ gate: gateSchema.optional() });

/** A configured stage, with the gate of its endpoint. */
export type ConfiguredStage = z.infer<typeof configuredStageSchema>;

/** A stage as it is in force, and how it came to be. */
export type StageInForce = Stage & {
  /** When it was set, ISO 8601: also identifies it. */
  since: string;
  /** Who moved the endpoint, and why. */
  by: string;
  why: string;
  /** The configured stage (JSON) when this one was set. If the configuration differs from it later, the configuration wins. */
  configured?: string;
};

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

/** The share (0-100) of callers that modern answers; the stage `modern` is one step beyond canary's 100. */
const callersOf = ({ stage, share }: Stage): number => (stage === "modern" ? 101 : stage === "canary" ? share : 0);

/** Whether a move gives modern more of the callers. Legacy to shadow gives it none. */
export const isForward = (from: Stage, to: Stage): boolean => callersOf(to) > callersOf(from);

/**
 * What the audit log keeps of a move by an operator. `despite`: the reason given for a step against the evidence. `all`: when everything
 * went back to legacy (ISO 8601), if this move was part of it.
 */
export type MoveNote = { despite?: string; all?: string };

/** One line of the audit log. */
export type Move = MoveNote & {
  at: string;
  endpoint: string;
  by: string;
  why: string;
  from: Stage;
  to: Stage;
};

/** Where the endpoints were whose newest move took them back to legacy with all others. `audit`: the newest move first. */
export const formerStages = (audit: readonly Move[]): ReadonlyMap<string, Move["from"]> => {
  const latest = new Map<string, Move>();
  for (const move of audit) if (!latest.has(move.endpoint)) latest.set(move.endpoint, move);
  return new Map([...latest].flatMap(([endpoint, { all, from }]) => (all === undefined ? [] : [[endpoint, from]])));
};
