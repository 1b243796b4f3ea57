import { type Entry, expiryOf, type FoundEntry } from "../../src/gateway/index.ts";
import { monotonic } from "../../src/operation/index.ts";

const isoAt = (moment: number): string => new Date(monotonic.toStored(moment)).toISOString();

/** A stored answer, as operators see it. */
export type StoredAnswer = ReturnType<typeof storedAnswer>;

/** Describes an entry. Times are ISO 8601. */
export const storedAnswer = ({ entry, freshness }: FoundEntry) => {
  const { endpoint, status, body, groups, storedAt, freshUntil, failures, retryAt } = entry;
  return {
    /** For a read of the legacy interface its name behind the word `legacy`. */
    endpoint,
    status,
    bytes: body.length,
    groups,
    freshness,
    /** When it was fetched, which is the time of the last refresh that succeeded. */
    since: isoAt(storedAt),
    freshUntil: isoAt(freshUntil),
    /** Until when it may be served, also stale. */
    until: isoAt(expiryOf(entry)),
    /** The reason why it is no longer fresh; absent while it is. */
    ...(freshness !== "fresh" && { why: whyNotFresh(entry) }),
    /** Refreshes in a row that have failed since then, and when the next may be tried. */
    failures,
    ...(failures > 0 && { retryAt: isoAt(retryAt) }),
  };
};

const whyNotFresh = ({ isDoubtful, isOutdated, storedAt, lifetimes, freshUntil }: Entry): string => {
  if (isDoubtful) return "a write may have been missed: Redis was away, or the gateway was restarted";
  if (isOutdated) return "a write has changed what it is about, or may have";
  return freshUntil < storedAt + lifetimes.fresh ? "it was purged, or marked by a write" : "its time is over";
};
