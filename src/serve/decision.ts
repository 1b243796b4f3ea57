/** Which backend answered, in which stage of a migration, and why: the header `Gateway-Decision`. */
export type Decision = { stage: string; backend: string; bucket?: number; reason: string };

/** `stage=canary; backend=modern; bucket=37; reason=share`; `private=incomplete` where the list may lack rows that the caller may see. */
export const decisionHeader = ({ stage, backend, bucket, reason }: Decision, isIncomplete = false): string =>
  `stage=${stage}; backend=${backend}${bucket === undefined ? "" : `; bucket=${bucket}`}; reason=${reason}${isIncomplete ? "; private=incomplete" : ""}`;

/** How an endpoint that is not migrated answers. */
export const legacyDecision: Decision = { stage: "legacy", backend: "legacy", reason: "stage" };
