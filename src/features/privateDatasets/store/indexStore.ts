import type { Change, Kept } from "../rows.ts";

/** Where the index of private rows is kept. Nothing here rejects but `open`; the index goes on in memory whatever happens to its store. */
export type IndexStore = {
  kind: "memory" | "directory" | "redis";
  /** Keeps a change, some time soon: nobody waits for it. What is on its way is merged with it. */
  save(change: Change): void;
  /** Whether this instance is the one that walks; asked before every step. */
  mayWalk(): boolean;
  /** What was not kept yet is kept first. */
  close(): Promise<void>;
};

/**
 * `lost`, `up`: the store does not do what it is asked, and does again. `unreadable`: what was kept is none of ours, or of another legacy:
 * the walk begins anew. `restored`: Redis had lost what this instance knows, and has it again.
 */
export type IndexStoreEvent = `private_index_store_${"lost" | "up" | "unreadable" | "restored"}`;

export type IndexStoreParts = {
  /** All that is known here now. */
  snapshot: () => Kept;
  /** What was kept, or what another instance has changed; `isWhole`: nothing else holds any more. */
  onChange: (change: Change, isWhole: boolean) => void;
  onEvent: (event: IndexStoreEvent, about: Record<string, unknown>) => void;
};

/** Rejects where it can never be kept there, with the setting's name. */
export type OpenIndexStore = (parts: IndexStoreParts) => Promise<IndexStore>;
