import type { Stage, StageName } from "./stage.ts";

/** One of the two implementations. */
export type Side = "legacy" | "modern";

/** The side that answers one request, and the reason. */
export type StageDecision = { stage: StageName; backend: Side; bucket?: number; reason: string };

/** The facts that decide between the sides of one request. */
export type Bucketing = {
  /** The caller's bucket; computed only in canary. */
  bucket: () => number;
  /** The side that the request names, if requests may name a side. */
  forced?: Side | undefined;
};

/**
 * In canary, modern answers callers with a bucket below the share: a larger share includes the
 * callers of a smaller share.
 */
export const decide = ({ stage, share }: Stage, { bucket, forced }: Bucketing): StageDecision => {
  if (forced !== undefined) return { stage, backend: forced, reason: "forced" };
  if (stage !== "canary") return { stage, backend: stage === "modern" ? "modern" : "legacy", reason: "stage" };
  const own = bucket();
  return { stage, backend: own < share ? "modern" : "legacy", bucket: own, reason: "share" };
};

/** The bucket, 0 to 99, of the caller with this SHA-256 (base64url): the same in every gateway. */
export const bucketOf = (digest: string): number =>
  Math.floor((Buffer.from(digest.slice(0, 8), "base64url").readUInt32BE() / 2 ** 32) * 100);
