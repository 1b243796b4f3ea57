import { type Entry, expiryOf, type FoundEntry } from "../../src/gateway/index.ts";
import { monotonic } from "../../src/operation/index.ts";

/** A stored answer, as operators see it. Times are ISO 8601. */
export type StoredAnswer = {
  /** Of the new interface its endpoint's name; of legacy's own that behind `legacy`. */
  endpoint: string;
  status: number;
  bytes: number;
  groups: readonly string[];
  freshness: FoundEntry["freshness"];
  /** When it was fetched: the last refresh that succeeded. */
  since: string;
  freshUntil: string;
  /** Until when it may be served at all. */
  until: string;
  /** Why it is not fresh any more; absent while it is. */
  why?: string;
  /** How many refreshes in a row have failed since then, and when the next one may be tried. */
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
