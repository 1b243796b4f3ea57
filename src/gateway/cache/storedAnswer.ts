import { toStored } from "../../operation/index.ts";
import type { Entry } from "./entry.ts";
import { expiryOf, type Freshness } from "./policy.ts";

/** A stored answer, as operators see it. Times are ISO 8601. */
export type StoredAnswer = {
  /** Of the new interface its endpoint's name; of legacy's own that behind `legacy`. */
  endpoint: string;
  status: number;
  bytes: number;
  groups: readonly string[];
  freshness: Freshness;
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

/** What is stored for everybody, by the address of a read of either interface. */
export type StoredAnswers = {
  /** `undefined` where the address is that of no read that may be stored. */
  find: (address: string) => Promise<StoredAnswer[] | undefined>;
  /** Deletes them in all gateways. `notAcknowledged`: another gateway, or Redis, has not done so yet. */
  remove: (address: string) => Promise<"unknown" | "removed" | "notAcknowledged">;
};

const isoAt = (moment: number): string => new Date(toStored(moment)).toISOString();

/** Describes an entry. */
export const storedAnswer = (entry: Entry, freshness: Freshness): StoredAnswer => {
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
