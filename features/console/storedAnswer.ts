import { type Entry, expiryOf, type FoundEntry } from "../../src/gateway/index.ts";
import { monotonic } from "../../src/operation/index.ts";

/** A stored answer, as operators see it. Times are ISO 8601. */
export type StoredAnswer = {
  /** The name of its endpoint; for a read of the legacy interface behind the word `legacy`. */
  endpoint: string;
  status: number;
  bytes: number;
  groups: readonly string[];
  freshness: FoundEntry["freshness"];
  /** When it was fetched, which is the time of the last refresh that succeeded. */
  since: string;
  freshUntil: string;
  /** Until when it may be served, also stale. */
  until: string;
  /** The reason why it is no longer fresh; absent while it is. */
  why?: string;
  /** Refreshes in a row that have failed since then, and when the next may be tried. */
  failures: number;
  retryAt?: string;
};

const isoAt = (moment: number): string => new Date(monotonic.toStored(moment)).toISOString();

/** Describes an entry. */
export const storedAnswer = ({ entry, freshness }: FoundEntry): StoredAnswer => {
  const { endpoint, status, body, groups, storedAt, freshUntil, failures, retryAt } = entry;
  return {
    endpoint,
    status,
    bytes: body.length,
    groups,
    freshness,
    since: isoAt(storedAt),
    freshUntil: isoAt(freshUntil),
    until: isoAt(expiryOf(entry)),
    ...(freshness !== "fresh" && { why: whyNotFresh(entry) }),
    failures,
    ...(failures > 0 && { retryAt: isoAt(retryAt) }),
  };
};

const whyNotFresh = ({ isDoubtful, isOutdated, storedAt, lifetimes, freshUntil }: Entry): string => {
  if (isDoubtful) return "Redis was away, and a write may have been missed";
  if (isOutdated) return "a write has changed what it is about, or may have";
  return freshUntil < storedAt + lifetimes.fresh ? "it was purged, or marked by a write" : "its time is over";
};
