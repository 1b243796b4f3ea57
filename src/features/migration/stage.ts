import { z } from "zod";

/** The stages, from legacy alone to modern alone. */
export const stageNames = ["legacy", "shadow", "canary", "modern"] as const;

/**
 * Which side answers an endpoint. `legacy`: legacy alone. `shadow`: legacy, and modern is compared on a sample. `canary`: modern for a share
 * of the callers. `modern`: modern, and legacy is compared on a sample.
 */
export type StageName = (typeof stageNames)[number];

const share = z.int().min(0).max(100);

/** When an endpoint moves by itself: up if modern is proven good enough, down if it is proven worse. */
export const gateSchema = z.strictObject({
  /** The least share (0-1) of compared answers without an unexplained difference. */
  parity: z.number().min(0).max(1).default(0.99),
  /** Distinct requests compared and minutes since the last move that a promotion needs. */
  requests: z.int().min(1).max(100_000).default(500),
  minutes: z.number().min(0).max(100_000).default(10),
  /** The largest share (0-1) of modern's answers that may fail, and the milliseconds that 95 % of its answers stay within. */
  errorRate: z.number().min(0).max(1).default(0.01),
  p95: z.number().min(1).max(3_600_000).default(2000),
  /** Minutes without a promotion after a demotion. */
  hold: z.number().min(0).max(100_000).default(30),
});

/** A gate with all its bounds. */
export type Gate = z.infer<typeof gateSchema>;

/** `share` in percent: of requests that are compared in shadow and modern, of callers in canary. */
export const stageSchema = z.strictObject({
  stage: z.enum(stageNames),
  share: share.default(100),
  gate: gateSchema.optional(),
});

/** A stage with its share and gate. */
export type Stage = z.infer<typeof stageSchema>;

/** The stage that an endpoint moves to. Without `gate` the present gate stays; `null` removes it. */
export type Destination = Omit<Stage, "gate"> & { gate?: Gate | null | undefined };

/** A stage as it is in force, and how it came to be. */
export type StageInForce = Stage & {
  /** ISO 8601. */
  since: string;
  by: string;
  why: string;
  /** The configured stage (JSON) when this one was set. If the configuration differs from it later, the configuration wins. */
  configured?: string;
};

/** One line of the audit log. */
export type Move = {
  at: string;
  endpoint: string;
  by: string;
  why: string;
  from: { stage: StageName; share: number };
  to: { stage: StageName; share: number };
};
