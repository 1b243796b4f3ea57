import type { AuditMove } from "../stage.ts";

/** The moves of many endpoints at once: one entry of the audit log. */
export type JointEntry = Pick<AuditMove, "at" | "by" | "why" | "all" | "undo"> & {
  moves: Pick<AuditMove, "endpoint" | "from" | "to" | "despite">[];
};

/** Joins the moves that were asked for at once, in the order of the newest of each. */
export const auditEntries = (audit: readonly AuditMove[]): (AuditMove | JointEntry)[] => {
  const joint = new Map<string, JointEntry>();
  return audit.flatMap((move): (AuditMove | JointEntry)[] => {
    const { endpoint, from, to, despite, ...about } = move;
    if (about.all === undefined) return [move];
    const key = JSON.stringify([about.all, about.undo, about.by, about.why]);
    const known = joint.get(key);
    const entry = known ?? { ...about, moves: [] };
    entry.moves.push({ endpoint, from, to, ...(despite !== undefined && { despite }) });
    joint.set(key, entry);
    return known === undefined ? [entry] : [];
  });
};
