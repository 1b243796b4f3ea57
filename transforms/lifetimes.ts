import { type Duration, entity } from "../src/catalogue/index.ts";

/** Lifetimes of entities that hardly change: flows, tasks, runs. */
export const lasting = { fresh: "1h", staleWhileRevalidate: "7d", staleIfError: "7d" } as const;

/** Lifetimes of lists that only legacy's operators change: types of tasks, measures. */
export const fixed = { ...lasting, fresh: "24h" } as const;

/** Lifetimes of pages of lists; lists of tags are fresh for longer (`tagging.ts`). */
export const listed = { fresh: "1m", staleWhileRevalidate: "1h", staleIfError: "7d" } as const;

/** The cache policy of answers about a single dataset. */
export const ofDataset = (fresh: Duration) => ({
  fresh,
  staleWhileRevalidate: "1h" as const,
  staleIfError: "7d" as const,
  mayTurnPrivate: true as const,
  groups: ({ dataset_id }: { dataset_id: number }, ours?: unknown) => entity("dataset", dataset_id, ours !== undefined),
});
