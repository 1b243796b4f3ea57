/**
 * Opens an empty set of running calls by key, which later callers with the same key wait for. A call is removed when
 * it settles. One that has not after `timeout` milliseconds, longer than it may take, is removed, and rejects for all.
 */
export const openSingleFlight = <T>(timeout: number) => {
  const flights = new Map<string, Promise<T>>();
  return {
    get: (key: string): Promise<T> | undefined => flights.get(key),
    /** Later callers join none of the calls that are running now. */
    clear: (): void => flights.clear(),
    async launch(key: string, running: Promise<T>): Promise<T> {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error(`a shared call has not ended in ${timeout} ms`)), timeout);
      const flight = Promise.race([running, late.promise]);
      flights.set(key, flight);
      try {
        return await flight;
      } finally {
        clearTimeout(timer);
        if (flights.get(key) === flight) flights.delete(key);
      }
    },
  };
};
