import type { LedgerEntry } from "../../../compare/ledger.ts";
import type { Move, StageInForce } from "../stage.ts";

/** What survives a restart: the stages that were set at run time, the audit log (the newest first), and the expected differences that operators added. */
export type MigrationState = {
  stages: Record<string, StageInForce>;
  audit: Move[];
  expected: LedgerEntry[];
};

export type StateStore = {
  /** What is in force; read once at the start, then kept by itself. */
  state(): MigrationState;
  /**
   * Sets one endpoint's stage and writes the move down, unless somebody else moved it since `seen` (its `since`, or undefined where it was
   * never set): then false. Rejects where it cannot be kept; whether it was all the same is told by `onChange`.
   */
  move(endpoint: string, to: StageInForce, move: Move, seen: string | undefined): Promise<boolean>;
  /** Adds an expected difference; false where its id is taken. */
  expect(entry: LedgerEntry): Promise<boolean>;
  /** Called after another instance changed something. */
  onChange(listener: (state: MigrationState) => void): void;
  /** What is being written is written first. */
  close(): Promise<void>;
};

/**
 * `lost`, `up`: Redis does not do what it is asked, and does again. `restored`: it had lost something that was put back. `overtaken`: it had,
 * and somebody moved the same endpoint meanwhile, who stays right. `unreadable`: a value that is none of ours is left alone.
 * `unknown`: an endpoint that does not exist is left alone. `error`: the file was not written.
 */
export type StoreEvent =
  `migration_store_${"lost" | "up" | "restored" | "overtaken" | "unreadable" | "unknown" | "error"}`;

export type OnStoreEvent = (event: StoreEvent, about: { endpoint?: string } & Record<string, unknown>) => void;
