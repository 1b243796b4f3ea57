import type { CacheWindows } from "../../../cache/lifetimes.ts";
import type { LedgerEntry } from "../../../compare/ledger.ts";
import type { Move } from "../../migration/stage.ts";
import type { ClientView, DifferenceView, StagesView } from "../../migration/views.ts";
import type { PrivateRowsView } from "../../privateDatasets/state.ts";

/** What `GET /cache` says. */
export type CacheView = {
  bound: { bytes: number; entryBytes: number };
  bytes: number;
  entries: number;
  evicted: number;
  shared?: string | undefined;
  windows: Readonly<Record<string, CacheWindows>>;
  /** Absent where no private rows are looked for. */
  privateRows?: PrivateRowsView | undefined;
};

/** All that the operators' page shows, each part as its own route answers it. */
export type AdminPageData = {
  stages: StagesView;
  /** The root causes first. */
  differences: readonly DifferenceView[];
  /** The newest first. */
  audit: readonly Move[];
  clients: readonly ClientView[];
  expected: readonly LedgerEntry[];
  /** Whether there is a new implementation that an endpoint could move to. */
  hasModern: boolean;
  cache: CacheView;
};
