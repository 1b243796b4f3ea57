import { z } from "zod";

export const stageNames = ["legacy", "shadow", "canary", "modern"] as const;

/**
 * Who answers an endpoint: `legacy` legacy alone; `shadow` legacy, and modern is compared on a sample; `canary` modern for a share of the
 * callers; `modern` modern, and legacy is compared on a sample.
 */
export type StageName = (typeof stageNames)[number];

const share = z.int().min(0).max(100);

/** When an endpoint moves by itself: up where modern has proven itself, down where it has shown that it is no better. */
export const gateSchema = z.strictObject({
  /** The least share of answers that are as they should be. */
  parity: z.number().min(0).max(1).default(0.99),
  /** Distinct requests, and minutes since the last move, before a promotion. */
  requests: z.int().min(1).max(100_000).default(500),
  minutes: z.number().min(0).max(100_000).default(10),
  /** The most that may fail at modern, as a share, and the milliseconds that 95 % of its answers stay within. */
  errorRate: z.number().min(0).max(1).default(0.01),
  p95: z.number().min(1).max(3_600_000).default(2000),
  /** Minutes without a promotion after a demotion. */
  hold: z.number().min(0).max(100_000).default(30),
});

export type Gate = z.infer<typeof gateSchema>;

/** `share`: of what is mirrored in shadow and modern, of the callers in canary; in percent. */
export const stageSchema = z.strictObject({
  stage: z.enum(stageNames),
  share: share.default(100),
  gate: gateSchema.optional(),
});

export type Stage = z.infer<typeof stageSchema>;

/** Where an endpoint is to go: without a word on it the gate stays, `null` takes it away. */
export type Destination = Omit<Stage, "gate"> & { gate?: Gate | null | undefined };

/** A stage as it is in force, and how it came to be. */
export type StageInForce = Stage & {
  /** ISO 8601. */
  since: string;
  by: string;
  why: string;
  /** What the configuration said when it was set: where that changes, the configuration has the latest word. */
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
