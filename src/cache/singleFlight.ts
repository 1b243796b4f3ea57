/** Running calls by key, which later callers with the same key wait for. */
type SingleFlight<T> = {
  get(key: string): Promise<T> | undefined;
  launch(key: string, flight: Promise<T>): Promise<T>;
  /** Later callers join none of the calls that are running now. */
  clear(): void;
};

/** Opens an empty set of calls. A call is removed when it settles. */
export const openSingleFlight = <T>(): SingleFlight<T> => {
  const flights = new Map<string, Promise<T>>();
  return {
    get: (key) => flights.get(key),
    clear: () => flights.clear(),
    async launch(key, flight) {
      flights.set(key, flight);
      try {
        return await flight;
      } finally {
        if (flights.get(key) === flight) flights.delete(key);
      }
    },
  };
};
