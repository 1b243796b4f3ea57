import type { LedgerEntry } from "../../../compare/ledger.ts";
import type { Move, StageInForce } from "../stage.ts";
import { afterExpect, afterMove } from "./nextState.ts";
import type { Reconciled } from "./reconcile.ts";
import { plain, type SharedState, type Stored } from "./sharedState.ts";

/** One change of what is in Redis: the state after it, and what has to be written. `audit`: lines to add, or all of them. */
export type SharedChange = {
  after: SharedState;
  stages: string[];
  expected: string[];
  audit: { how: "more" | "anew"; lines: string[] };
};

export const moveIn = (
  state: SharedState,
  endpoint: string,
  to: StageInForce,
  move: Move,
  seen: string | undefined,
): SharedChange | undefined => {
  const next = afterMove(plain(state), endpoint, to, move, seen);
  if (next === undefined) return undefined;
  const version = state.version + 1;
  const stages = { ...state.stages, [endpoint]: { version, stage: next.stages[endpoint] as StageInForce } };
  return {
    after: { version, stages, audit: next.audit, expected: next.expected },
    stages: [endpoint],
    expected: [],
    audit: { how: "more", lines: linesOf(next.audit.slice(0, 1)) },
  };
};

export const expectIn = (state: SharedState, entry: LedgerEntry): SharedChange | undefined => {
  const next = afterExpect(plain(state), entry);
  return (
    next && {
      after: { ...state, version: state.version + 1, expected: next.expected },
      stages: [],
      expected: [entry.id],
      audit: { how: "more", lines: [] },
    }
  );
};

/** What Redis has lost; nothing where it has not. */
export const restoreIn = ({ state, lost }: Reconciled, { unreadable }: Stored): SharedChange | undefined => {
  if (lost.stages.length + lost.moves + lost.expected.length === 0) return undefined;
  return {
    after: { ...state, version: state.version + 1 },
    stages: lost.stages,
    expected: lost.expected,
    // In their order, which lines pushed one by one would not have.
    audit:
      lost.moves === 0
        ? { how: "more", lines: [] }
        : { how: "anew", lines: [...unreadable.audit.toReversed(), ...linesOf(state.audit)] },
  };
};

/** As the script wants them. */
export const argumentsOf = ({ after, stages, expected, audit }: SharedChange): string[] => [
  audit.how,
  String(stages.length),
  String(expected.length),
  ...stages.flatMap((endpoint) => [endpoint, JSON.stringify(after.stages[endpoint])]),
  ...expected.flatMap((id) => [id, JSON.stringify(after.expected.find((entry) => entry.id === id))]),
  ...audit.lines,
];

/** The oldest first: each is put before the ones that are there. */
const linesOf = (moves: readonly Move[]): string[] => moves.map((move) => JSON.stringify(move)).toReversed();
