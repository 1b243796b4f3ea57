import { isDeepStrictEqual } from "node:util";
import { MOST_MOVES } from "./nextState.ts";
import type { SharedState, Stored } from "./sharedState.ts";

export type Reconciled = {
  /** What holds. */
  state: SharedState;
  /** What Redis had and has no more: endpoints, moves, ids of expected differences. */
  lost: { stages: string[]; moves: number; expected: string[] };
  /** Endpoints that somebody moved while Redis did not know of the move that this instance knows of. */
  overtaken: string[];
};

/**
 * What an instance knows, and what Redis has -> what holds.
 *
 * Nothing is ever deleted from Redis, so what this instance has seen there and is gone was lost: by a flush, an eviction, a restart, a
 * failover to a replica that was behind. To believe it would move endpoints that nobody moved: it is put back. Where both have a stage, the
 * count of changes says which is the later one, as clocks cannot. Only where Redis lost that count and somebody moved the endpoint since,
 * the clock decides.
 */
export const reconcile = (ours: SharedState, theirs: Stored): Reconciled => {
  const lostStages: string[] = [];
  const overtaken: string[] = [];
  const stages = { ...theirs.stages };
  for (const [endpoint, known] of Object.entries(ours.stages)) {
    const stored = theirs.stages[endpoint];
    if (stored && (stored.version > known.version || isDeepStrictEqual(stored.stage, known.stage))) continue;
    const isLater = stored === undefined || Date.parse(known.stage.since) > Date.parse(stored.stage.since);
    if (isLater) stages[endpoint] = known;
    // What cannot be read was written by somebody, and is not lost.
    if (isLater && !theirs.unreadable.stages.includes(endpoint)) lostStages.push(endpoint);
    if (!isLater) overtaken.push(endpoint);
  }

  const ids = new Set([...theirs.expected.map(({ id }) => id), ...theirs.unreadable.expected]);
  const lostExpected = ours.expected.filter(({ id }) => !ids.has(id));

  const lines = new Set(theirs.audit.map((move) => JSON.stringify(move)));
  const unknown = new Set(ours.audit.filter((move) => !lines.has(JSON.stringify(move))));
  const audit = unknown.size === 0 ? theirs.audit : newest([...unknown, ...theirs.audit]);
  // Those before the oldest of a full log were not lost: their time was over.
  const moves = audit.filter((move) => unknown.has(move)).length;

  return {
    state: {
      version: Math.max(ours.version, theirs.version, ...Object.values(stages).map(({ version }) => version)),
      stages,
      audit: moves === 0 ? theirs.audit : audit,
      expected: [...theirs.expected, ...lostExpected],
    },
    lost: { stages: lostStages, moves, expected: lostExpected.map(({ id }) => id) },
    overtaken,
  };
};

const newest = (moves: SharedState["audit"]) =>
  moves.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, MOST_MOVES);
