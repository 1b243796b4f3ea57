import { hash } from "node:crypto";
import type { Answer } from "../../catalogue/index.ts";

/** A content coding that answers are stored in (RFC 9110, section 8.4.1). */
export type Coding = "br" | "gzip";

/** A stored answer, its lifetimes, and the groups it belongs to. Times are on the clock of `performance.now()`. */
export type Entry = Answer & {
  body: Buffer;
  /** The strong validator of `body`, without quotes; a coding's validator has `-br` or `-gzip` appended. */
  tag: string;
  /** The body in each coding that has been made so far. */
  coded: Partial<Record<Coding, Buffer>>;
  endpoint: string;
  storedAt: number;
  lifetimes: Lifetimes;
  /** A soft invalidation sets it to the current time. */
  freshUntil: number;
  /** An invalidation may have been missed: Redis was lost since it was stored, or the gateway was not running. */
  isDoubtful?: true;
  /** A write has changed it, or may have: it is served only if legacy fails. */
  isOutdated?: true;
  /** A write invalidates every entry that shares a group with it. */
  groups: readonly string[];
  /** The key that fetched it, hashed; only this caller may see it. `undefined` for a public answer. */
  owner?: string;
  /** The number of refreshes in a row that have failed; `retryAt`: the time of the next attempt. */
  failures: number;
  retryAt: number;
  /** The round of the pause after a failed refresh: all pauses of a round end when the backend recovers. */
  pausedIn?: number;
  /** The same answer as old clients get it, by the form's name. */
  forms?: Readonly<Record<string, Entry>> | undefined;
  /** Compresses the entry in the background, for later requests. Set if the entry is stored and large enough. */
  onCodingWanted?: (coding: Coding) => void;
  /**
   * Requested codings that are not in `coded`: being made (`pending`), or not smaller or too large to be stored
   * (`useless`).
   */
  codingState?: Partial<Record<Coding, "pending" | "useless">>;
};

/** A new entry, without codings. */
export const entryOf = (
  { status, judged = status, body, headers, tag, type }: Answer,
  stored: Pick<Entry, "endpoint" | "groups" | "lifetimes" | "storedAt"> & { owner?: string | undefined },
): Entry => {
  const { endpoint, groups, lifetimes, storedAt, owner } = stored;
  const bytes = bytesOf(body);
  return {
    status,
    body: bytes,
    tag: tag ?? tagOf(bytes),
    coded: {},
    ...(type !== undefined && { type }),
    ...(headers && { headers }),
    endpoint,
    ...(judged !== status && { judged }),
    groups,
    ...(owner !== undefined && { owner }),
    lifetimes,
    storedAt,
    freshUntil: storedAt + lifetimes.fresh,
    failures: 0,
    retryAt: 0,
  };
};

/** The bytes of a text, in a block of memory of their own; a buffer is returned as it is. */
export const bytesOf = (text: string | Buffer): Buffer => {
  if (typeof text !== "string") return text;
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

/** The strong validator of these bytes: 22 characters of a SHA-256. */
export const tagOf = (bytes: Buffer): string => hash("sha256", bytes, "base64url").slice(0, 22);

/** The lifetimes of one answer in milliseconds. `mayTurnPrivate`: legacy may show it to fewer callers later. */
export type Lifetimes = { fresh: number; staleWhileRevalidate: number; staleIfError: number; mayTurnPrivate?: true };

/**
 * Looks up the lifetimes of an answer by its status. `isUnfinished`: its document is not complete yet. `undefined`: the
 * answer must not be stored.
 */
export type LifetimesOf = (status: number, isUnfinished?: boolean) => Lifetimes | undefined;
