import { hash } from "node:crypto";
import type { Entry, LifetimesOf } from "./entry.ts";
import type { Answer, ForOne } from "../../catalogue/index.ts";

/** The answer that a request is for, independent of its caller: its key, endpoint and lifetimes. */
export type CacheKey = {
  key: string;
  endpoint: string;
  lifetimesOf: LifetimesOf;
  /** Callers with a key may be shown more: they never get an entry that was fetched without a key. */
  personal: boolean;
};

/**
 * The endpoint name under which the legacy interface's answers to reads of this endpoint are stored. They stay when
 * the endpoint's stage moves.
 */
export const legacyName = (endpoint: string): string => `legacy ${endpoint}`;

/**
 * One request to the cache. `owner`: the id of the caller's key; `undefined` for a caller without a key.
 * `wanted`: the request's Cache-Control.
 */
export type CacheRequest = { cacheKey: CacheKey; owner: string | undefined; wanted: Directives };

/** An answer just fetched from a backend, and how it may be stored and shared. */
export type Fetched = {
  answer: Answer;
  /** The groups that the answer belongs to: a write to any of them invalidates the answer. */
  groups: readonly string[];
  /** The time by which its document is complete, in milliseconds since the epoch. */
  unfinishedUntil?: number | undefined;
  forOne?: ForOne | undefined;
  /** Milliseconds for which the answer is fresh at most. If it is set, the answer is not served while revalidated. */
  freshAtMost?: number;
};

/**
 * The backend's answer is not for the cache: others may not get it, or it could not be collected. Each request has to
 * go to the backend. If there is a stored entry, this counts as a failure of the backend.
 */
export type NotForCache = "notForCache";

/**
 * Fetches the answer with the owner's key or (`undefined`) without a key. `background`: no client waits for it.
 * `before`: the stored public entry, if there is one. `F`: the possible results.
 */
export type Fetch<F extends Fetched | NotForCache = Fetched | NotForCache> = (
  owner: string | undefined,
  background: boolean,
  before: Entry | undefined,
) => Promise<F>;

/** A digest of fixed length. The parts are separated, so that different lists never have the same digest. */
const digest = (parts: readonly unknown[]): string => hash("sha256", JSON.stringify(parts), "base64url");

/** The key of a request: a digest of the endpoint, the backend that answers, and the input as the endpoint reads it. */
export const cacheKeyOf = (endpoint: string, backend: string, input: Readonly<Record<string, unknown>>): string =>
  digest([endpoint, backend, ...Object.values(input)]);

/** The key under which an answer that was fetched for this owner is stored. */
export const entryKey = ({ cacheKey }: CacheRequest, owner: string | undefined): string =>
  owner === undefined ? cacheKey.key : digest([cacheKey.key, owner]);

/** The Cache-Control of a request (RFC 9111, section 5.2.1); times in milliseconds. */
export type Directives = {
  /** The request has to go to legacy. */
  noCache?: true;
  /** The answer must not be stored. */
  noStore?: true;
  onlyIfCached?: true;
  maxAge?: number;
  /** Only the gateway's own requests set this: they take no stale answer. */
  onlyFresh?: true;
};

const noDirectives: Directives = {};

/** Reads `Cache-Control`, or `Pragma` if there is no `Cache-Control`. Ignores unknown and malformed directives. */
export const readDirectives = (cacheControl: string | undefined, pragma?: string): Directives => {
  if (cacheControl === undefined || cacheControl === "")
    return pragma !== undefined && /\bno-cache\b/i.test(pragma) ? { noCache: true } : noDirectives;
  const directives: Directives = {};
  for (const part of cacheControl.split(",")) {
    const [name = "", value] = part.split("=", 2).map((side) => side.trim());
    const seconds = /^"?(\d{1,10})"?$/.exec(value ?? "")?.[1];
    const time = seconds === undefined ? undefined : Number(seconds) * 1000;
    switch (name.toLowerCase()) {
      case "no-cache":
        directives.noCache = true;
        break;
      case "no-store":
        directives.noStore = true;
        break;
      case "only-if-cached":
        directives.onlyIfCached = true;
        break;
      case "max-age":
        if (time !== undefined) directives.maxAge = time;
        break;
      default:
    }
  }
  return directives;
};
