import { hash } from "node:crypto";
import type { Stage, StageName } from "./stage.ts";

export type Side = "legacy" | "modern";

/** Who answers one request, and why. */
export type StageDecision = { stage: StageName; backend: Side; bucket?: number; reason: string };

export type Bucketing = {
  /** The caller's bucket, looked at only where callers are shared out. */
  bucket: () => number;
  /** The side that the request itself names, where that is allowed. */
  forced?: Side | undefined;
};

/** A larger share keeps whom a smaller one had: callers with a bucket below it go to modern. */
export const decide = ({ stage, share }: Stage, { bucket, forced }: Bucketing): StageDecision => {
  if (forced !== undefined) return { stage, backend: forced, reason: "forced" };
  if (stage !== "canary") return { stage, backend: stage === "modern" ? "modern" : "legacy", reason: "stage" };
  const own = bucket();
  return { stage, backend: own < share ? "modern" : "legacy", bucket: own, reason: "share" };
};

/** Of a hundred buckets, the one a caller is always in: every gateway puts it into the same, and no key can be read out of it. */
export const bucketOf = (caller: string): number =>
  Math.floor((Number.parseInt(hash("sha256", caller, "hex").slice(0, 8), 16) / 2 ** 32) * 100);
