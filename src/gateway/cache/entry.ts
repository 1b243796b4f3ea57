import { hash } from "node:crypto";
import type { Answer } from "../../catalogue/index.ts";

/** A content coding that answers are stored in (RFC 9110, section 8.4.1). */
export type Coding = "br" | "gzip";

/** A stored answer, its lifetimes, and the groups it belongs to. Times are on the clock of `performance.now()`. */
export type Entry = Answer & {
  body: Buffer;
  /** The strong validator of `body`, without quotes; that of a coding has `-br` or `-gzip` appended. */
  tag: string;
  /** The body in the codings that were made so far. */
  coded: Partial<Record<Coding, Buffer>>;
  endpoint: string;
  /** The status by which it is stored, where it is not its own. */
  judged?: number;
  storedAt: number;
  lifetimes: Lifetimes;
  /** A soft invalidation brings it forward. */
  freshUntil: number;
  /** It is from before a gap of the shared tier, in which an invalidation may have been missed. */
  isDoubtful?: true;
  /** A write has touched it, or may have: it is served for legacy's failure only. */
  isOutdated?: true;
  /** A write invalidates every entry that shares a group with it. */
  groups: readonly string[];
  /** The key that fetched it, hashed; only this caller may see it. `undefined` for a public answer. */
  owner?: string;
  /** How many refreshes in a row have failed, and when to try again. */
  failures: number;
  retryAt: number;
  /** The pauses that hold all end together: the number of this one's round. */
  pausedIn?: number;
  /** While it is stored and large enough: has it compressed in the background, for later requests. */
  onCodingWanted?: (coding: Coding) => void;
  /**
   * Codings that are not in `coded` though they were asked for: being made, or of no use (not smaller, or
   * too large to be stored).
   */
  codingState?: Partial<Record<Coding, "pending" | "useless">>;
};

/** A new entry, in no coding yet. */
export const entryOf = (
  { status, body, headers, tag, type }: Answer,
  stored: Pick<Entry, "endpoint" | "groups" | "lifetimes" | "storedAt"> & {
    judged?: number | undefined;
    owner?: string | undefined;
  },
): Entry => {
  const { endpoint, judged, groups, lifetimes, storedAt, owner } = stored;
  const bytes = bytesOf(body);
  return {
    status,
    body: bytes,
    tag: tag ?? tagOf(bytes),
    coded: {},
    ...(type !== undefined && { type }),
    ...(headers && { headers }),
    endpoint,
    ...(judged !== undefined && judged !== status && { judged }),
    groups,
    ...(owner !== undefined && { owner }),
    lifetimes,
    storedAt,
    freshUntil: storedAt + lifetimes.fresh,
    failures: 0,
    retryAt: 0,
  };
};

/** The bytes of a text, alone in their block of memory; a buffer is returned as it is. */
export const bytesOf = (text: string | Buffer): Buffer => {
  if (typeof text !== "string") return text;
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

/** The strong validator of these bytes: 22 characters of a SHA-256. */
export const tagOf = (bytes: Buffer): string => hash("sha256", bytes, "base64url").slice(0, 22);

/** The lifetimes of one answer in milliseconds. */
export type Lifetimes = { fresh: number; staleWhileRevalidate: number; staleIfError: number };

/**
 * The lifetimes of an answer by its status, and by whether its document is unfinished;
 * `undefined`: it must not be stored.
 */
export type LifetimesOf = (status: number, isUnfinished?: boolean) => Lifetimes | undefined;
