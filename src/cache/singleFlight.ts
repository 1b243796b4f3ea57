/** Requests on their way, one for each key: whoever asks the same meanwhile waits for it. */
export type SingleFlight<T> = {
  get(key: string): Promise<T> | undefined;
  launch(key: string, flight: Promise<T>): Promise<T>;
  /** Whoever comes from now on joins none of these. */
  clear(): void;
};

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
