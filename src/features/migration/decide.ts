import type { Stage, StageName } from "./stage.ts";

export type Backend = "legacy" | "modern";

/** Who answers one request, and why. */
export type Decision = { stage: StageName; backend: Backend; bucket?: number; reason: string };

export type Bucketing = {
  /** The caller's bucket, looked at only where callers are shared out. */
  bucket: () => number;
  /** The side that the request itself names, where that is allowed. */
  forced?: Backend | undefined;
};

/** A larger share keeps whom a smaller one had: callers with a bucket below it go to modern. */
export const decide = ({ stage, share }: Stage, { bucket, forced }: Bucketing): Decision => {
  if (forced !== undefined) return { stage, backend: forced, reason: "forced" };
  if (stage !== "canary") return { stage, backend: stage === "modern" ? "modern" : "legacy", reason: "stage" };
  const own = bucket();
  return { stage, backend: own < share ? "modern" : "legacy", bucket: own, reason: "share" };
};

/** `stage=canary; backend=modern; bucket=37; reason=share`, and `private=incomplete` where private rows may be lacking that the caller may see. */
export const decisionHeader = (
  { stage, backend, bucket, reason }: Omit<Decision, "backend"> & { backend: string },
  isIncomplete = false,
): string =>
  `stage=${stage}; backend=${backend}${bucket === undefined ? "" : `; bucket=${bucket}`}; reason=${reason}${isIncomplete ? "; private=incomplete" : ""}`;
