/** Milliseconds after a signal from which another one ends the process at once. */
const SECOND_SIGNAL_MS = 1000;

/**
 * Calls `stop` at the first SIGTERM or SIGINT. The first SIGINT, also after a SIGTERM, only aborts `urgent`: the stop is not to wait for
 * load balancers. A further signal, a second later, ends the process with 1.
 */
export const onStopSignal = (stop: (urgent: AbortSignal) => Promise<void>): void => {
  const urgent = new AbortController();
  let since: number | undefined;
  const take = (signal: NodeJS.Signals): void => {
    const isFirst = since === undefined;
    const endsDelay = signal === "SIGINT" && !urgent.signal.aborted;
    // Earlier, it may be the last one again: npm passes on what its group of processes has had already.
    if (since !== undefined && !endsDelay && performance.now() - since >= SECOND_SIGNAL_MS) process.exit(1);
    if (isFirst || endsDelay) since = performance.now();
    if (endsDelay) urgent.abort();
    if (isFirst) void stop(urgent.signal);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, take);
};
