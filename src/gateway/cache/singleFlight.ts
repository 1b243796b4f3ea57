/**
 * Opens an empty set of running calls by key; later callers with the same key wait for the same call. A call is removed
 * when it settles. After `timeout` milliseconds, longer than it may take, it is removed and rejects for all.
 */
export const openSingleFlight = <T>(timeout: number) => {
  const calls = new Map<string, Promise<T>>();
  return {
    get: (key: string): Promise<T> | undefined => calls.get(key),
    /** Later callers do not join the calls that are running now. */
    clear: (): void => calls.clear(),
    async launch(key: string, running: Promise<T>): Promise<T> {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error(`a shared call has not ended in ${timeout} ms`)), timeout);
      const call = Promise.race([running, late.promise]);
      calls.set(key, call);
      try {
        return await call;
      } finally {
        clearTimeout(timer);
        if (calls.get(key) === call) calls.delete(key);
      }
    },
  };
};
