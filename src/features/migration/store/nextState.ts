import type { LedgerEntry } from "../../../compare/ledger.ts";
import type { Move, StageInForce } from "../stage.ts";
import { expectedSchema, moveSchema, stageInForceSchema } from "./schemas.ts";
import type { MigrationState } from "./stateStore.ts";

/** Lines of the audit log that are kept. */
export const MOST_MOVES = 1000;

export const nothingSet: MigrationState = { stages: {}, audit: [], expected: [] };

/** After a move; nothing where somebody else moved it since `seen`. Throws at what could not be read again. */
export const afterMove = (
  { stages, audit, expected }: MigrationState,
  endpoint: string,
  to: StageInForce,
  move: Move,
  seen: string | undefined,
): MigrationState | undefined => {
  if (stages[endpoint]?.since !== seen) return undefined;
  return {
    stages: { ...stages, [endpoint]: stageInForceSchema.parse(to) },
    audit: [moveSchema.parse(move), ...audit].slice(0, MOST_MOVES),
    expected,
  };
};

/** With one more expected difference; nothing where its id is taken. Throws at what could not be read again. */
export const afterExpect = (state: MigrationState, entry: LedgerEntry): MigrationState | undefined => {
  if (state.expected.some(({ id }) => id === entry.id)) return undefined;
  return { ...state, expected: [...state.expected, expectedSchema.parse(entry)] };
};
