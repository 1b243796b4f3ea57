import type { Coding } from "./compression.ts";
import type { Representation } from "./reply.ts";

/** A stored answer: its lifetimes, and the groups it belongs to. Times are on the clock of `performance.now()`. */
export type Entry = Representation & {
  endpoint: string;
  storedAt: number;
  lifetimes: Lifetimes;
  /** A soft invalidation brings it forward. */
  freshUntil: number;
  /** A write invalidates every entry that shares a group with it. */
  groups: readonly string[];
  /** The key that fetched it, hashed; only this caller may see it. `undefined` for a public answer. */
  owner?: string;
  /** How many refreshes in a row have failed, and when to try again. */
  failures: number;
  retryAt: number;
  /** While it is stored and large enough: has it compressed in the background, for later requests. */
  onCodingWanted?: (coding: Coding) => void;
  /** Codings that are not in `coded` though they were asked for: being made, or of no use (not smaller, or too large to be stored). */
  codingState?: Partial<Record<Coding, "pending" | "useless">>;
};

/** A new entry. */
export const entryOf = (
  representation: Representation,
  about: Pick<Entry, "endpoint" | "groups" | "owner" | "lifetimes" | "storedAt">,
): Entry => ({
  ...representation,
  ...about,
  freshUntil: about.storedAt + about.lifetimes.fresh,
  failures: 0,
  retryAt: 0,
});

/** `"90s"`, `"10m"`, `"24h"`, `"7d"` */
export type Duration = `${number}${"s" | "m" | "h" | "d"}`;

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Whether a text is a duration of at most six digits. */
export const isDuration = (text: string): text is Duration => /^\d{1,6}[smhd]$/.test(text);

/** `"10m"` -> 600000 */
export const milliseconds = (duration: Duration): number =>
  Number(duration.slice(0, -1)) * units[duration.slice(-1) as keyof typeof units];

/**
 * How long answers of an endpoint may be served, by definition or by the setting `CACHE_LIFETIMES`. `staleWhileRevalidate` and
 * `staleIfError` (RFC 5861) both count from the end of `fresh`; the default of both is 0.
 */
export type DeclaredLifetimes = {
  fresh: Duration;
  /** Served while it is fetched anew in the background. */
  staleWhileRevalidate?: Duration;
  /** Served where legacy fails. */
  staleIfError?: Duration;
  /** Of 404 and 410; default 60 s. */
  notFoundTtl?: Duration;
  /** Of 412, a state that will change soon; default 15 s. */
  preconditionTtl?: Duration;
  /** The resource may turn private: `staleWhileRevalidate` is an hour at most, whatever is declared. */
  mayTurnPrivate?: true;
};

/** The lifetimes of one answer in milliseconds. `mayTurnPrivate`: no client can extend `staleWhileRevalidate` by `max-stale`. */
export type Lifetimes = { fresh: number; staleWhileRevalidate: number; staleIfError: number; mayTurnPrivate?: true };

/** The lifetimes of an answer by its status; `undefined` where it must not be stored. */
export type LifetimesOf = (status: number) => Lifetimes | undefined;
