import type { Dispatcher, Pool } from "undici";

/** Milliseconds that a probe may take, well below what orchestrators wait for a readiness check, and that its result holds. */
const PROBE_MS = 500;
const HOLD_MS = 1000;

/** A request that is dropped as soon as a connection takes it up: the upstream never sees it. */
const begin = (pool: Pool): Promise<void> =>
  new Promise((resolve) => {
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {
        // Throwing drops the request and keeps the connection.
        throw new Error("The probe ends here.");
      },
      // Begun, or not even connected: either way the pool did with it what it does with requests.
      onResponseError: () => resolve(),
    };
    pool.dispatch({ method: "GET", path: "/", headers: [] }, handler);
  });

/**
 * Tells whether a pool of so many connections still brings requests to them. An upstream that is down, slow or busy on every
 * connection is no reason for false; a request that waits while connections hold none is. At most one probe is under way, and
 * its result holds for a second.
 */
export const openDispatchProbe = (pool: Pool, connections: number): (() => Promise<boolean>) => {
  let pending: Promise<void> | undefined;
  let latest: Promise<boolean> | undefined;

  const isStuck = (): boolean => {
    const { size, queued } = pool.stats;
    return pending !== undefined && queued > 0 && size - queued < connections;
  };
  const probe = async (): Promise<boolean> => {
    pending ??= begin(pool).then(() => void (pending = undefined));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, PROBE_MS)));
    await Promise.race([pending, late]);
    clearTimeout(timer);
    return !isStuck();
  };

  return () => {
    if (latest === undefined) {
      latest = probe();
      void latest.then(() => setTimeout(() => (latest = undefined), HOLD_MS).unref());
    }
    return latest;
  };
};
