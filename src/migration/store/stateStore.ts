import type { LedgerEntry } from "../../compare/ledger.ts";
import type { Move, StageInForce } from "../stage.ts";

/** What survives a restart: the stages that were set at run time, the audit log (newest first, at most 1000), the expected differences that operators added. */
export type MigrationState = { stages: Record<string, StageInForce>; audit: Move[]; expected: LedgerEntry[] };

export type StateStore = {
  /** What is in force; read once at the start, then kept by itself. */
  state(): MigrationState;
  /** Sets one endpoint's stage and writes the move down, unless somebody moved it since `seen` (its `since`): then false. Rejects where it cannot be kept. */
  move(endpoint: string, to: StageInForce, move: Move, seen: string | undefined): Promise<boolean>;
  /** Adds an expected difference; false where its id is taken. */
  expect(entry: LedgerEntry): Promise<boolean>;
  /** Called after another instance changed something. */
  onChange(listener: (state: MigrationState) => void): void;
  close(): Promise<void>;
};
