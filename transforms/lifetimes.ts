/** Lifetimes of what hardly changes once it is there: flows, tasks, runs. */
export const lasting = { fresh: "1h", staleWhileRevalidate: "7d", staleIfError: "7d" } as const;

/** Lifetimes of what only the legacy server's operators change: types of tasks, measures. */
export const fixed = { ...lasting, fresh: "24h" } as const;
