/**
 * Opens an empty set of running calls by key, which later callers with the same key wait for. A call is
 * removed when it settles.
 */
export const openSingleFlight = <T>() => {
  const flights = new Map<string, Promise<T>>();
  return {
    get: (key: string): Promise<T> | undefined => flights.get(key),
    /** Later callers join none of the calls that are running now. */
    clear: (): void => flights.clear(),
    async launch(key: string, flight: Promise<T>): Promise<T> {
      flights.set(key, flight);
      try {
        return await flight;
      } finally {
        if (flights.get(key) === flight) flights.delete(key);
      }
    },
  };
};
