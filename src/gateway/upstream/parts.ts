import type { RequestLine } from "./failure.ts";

/** The parts of a backend. */
export type PartSettings = {
  /** Names the part that a request asks: an endpoint, or the kind of the request. */
  partOf: (request: RequestLine) => string;
  /** A request was refused, since its part hangs. */
  onRefused: (part: string) => void;
};

/** A request with a connection, whose answer has not begun. `startedAt`: on the clock of `performance.now()`. */
type WaitingRequest = { readonly part: string; readonly startedAt: number };

/** Milliseconds without a first byte after which a part hangs. */
const SILENCE = 5000;

/** The connections of a backend by its parts. */
export type Parts = ReturnType<typeof openParts>;

/**
 * Finds parts of a backend that hang, so that each holds at most half of the connections, and the other parts are
 * answered. Parts are looked at only while half of the connections are in use: before, none can hold more.
 */
export const openParts = (connections: number, settings: PartSettings) => {
  const half = Math.max(1, Math.floor(connections / 2));
  let busySince: number | undefined;
  /** When an answer of each part has begun last, since the connections are busy. */
  const lastBytes = new Map<string, number>();

  const hangs = (part: string, [oldest]: readonly WaitingRequest[], since: number): boolean => {
    const silentSince = Math.max(lastBytes.get(part) ?? since, oldest?.startedAt ?? Number.POSITIVE_INFINITY);
    return performance.now() - silentSince >= SILENCE;
  };

  return {
    ...settings,
    /** Whether half of the connections are in use. It is told before each request. */
    isBusy(running: number): boolean {
      if (running < half) {
        if (busySince !== undefined) lastBytes.clear();
        busySince = undefined;
        return false;
      }
      busySince ??= performance.now();
      return true;
    },
    /** An answer has begun. */
    begun(request: { readonly part: string }): void {
      if (busySince !== undefined) lastBytes.set(request.part, performance.now());
    },
    /** The part that hangs and holds half of the connections, with its requests beyond those, the oldest first. */
    findFull<R extends WaitingRequest>(waiting: readonly R[]): { part: string; beyond: R[] } | undefined {
      for (const [part, requests] of Map.groupBy(waiting, (request) => request.part)) {
        if (requests.length < half) continue;
        const sorted = requests.toSorted((a, b) => a.startedAt - b.startedAt);
        if (hangs(part, sorted, busySince ?? Number.POSITIVE_INFINITY)) return { part, beyond: sorted.slice(half) };
      }
      return undefined;
    },
  };
};
