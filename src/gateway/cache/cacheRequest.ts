import { hash } from "node:crypto";
import type { Entry, LifetimesOf } from "./entry.ts";
import type { Answer } from "../../catalogue/index.ts";

/** What a request asks for, independent of its caller. */
export type CacheKey = {
  key: string;
  endpoint: string;
  lifetimesOf: LifetimesOf;
  /** Callers with a key may be shown more: they never get an entry that was fetched without a key. */
  personal: boolean;
};

/**
 * The name under which answers of legacy's own interface to reads of this endpoint are stored. A
 * moved stage leaves them.
 *
 * @example cache.invalidate({ endpoint: legacyName("getDataset"), soft: true })
 */
export const legacyName = (endpoint: string): string => `legacy ${endpoint}`;

/**
 * One request to the cache. `owner`: the caller's key, hashed; `undefined` for a caller without one.
 * `wanted`: its Cache-Control.
 */
export type CacheRequest = { cacheKey: CacheKey; owner: string | undefined; wanted: Directives };

/** An answer just fetched from a backend, and how it may be stored and shared. */
export type Fetched = {
  answer: Answer;
  /** What it is about: a write of any of these invalidates it. */
  groups: readonly string[];
  /** The status by which it is stored, where it is not its own. */
  judged?: number;
  /** When its document is complete at the latest, in milliseconds since the epoch. */
  unfinishedUntil?: number | undefined;
  /** It holds for this caller alone, as where there was no room for the request: others ask for themselves. */
  isForOne?: boolean;
  /** The backend was not asked: the answer does not change when to ask again. */
  isUnasked?: boolean;
  /** The backend limits this caller: others ask for themselves, and the answer does not change when to ask again. */
  isLimited?: boolean;
  /** Milliseconds that it is fresh at most; it is then not served while it is revalidated. */
  freshAtMost?: number;
};

/**
 * The backend's answer is not for the cache: others may not get it, or it could not be collected. Each request has to
 * pass to the backend. For an entry that is stored, this counts as the backend's failure.
 */
export type NotForCache = "notForCache";

/**
 * Fetches the answer, as the owner or (`undefined`) without a key. `background`: no client waits for it. `before`: the
 * entry for everybody that is stored, if there is one. `F`: what it may come to.
 */
export type Fetch<F extends Fetched | NotForCache = Fetched | NotForCache> = (
  owner: string | undefined,
  background: boolean,
  before: Entry | undefined,
) => Promise<F>;

/** A digest of fixed length; parts are separated, so that different lists never share one. */
const digest = (parts: readonly unknown[]): string => hash("sha256", JSON.stringify(parts), "base64url");

/** The key of a request: an endpoint, the backend that answers, and the input as the endpoint reads it. */
export const cacheKeyOf = (endpoint: string, backend: string, input: Readonly<Record<string, unknown>>): string =>
  digest([endpoint, backend, ...Object.values(input)]);

const ownerKey = (key: string, owner: string): string => digest([key, owner]);

/** The key under which an answer is stored that was fetched as this owner. */
export const entryKey = ({ cacheKey }: CacheRequest, owner: string | undefined): string =>
  owner === undefined ? cacheKey.key : ownerKey(cacheKey.key, owner);

/** The Cache-Control of a request (RFC 9111, section 5.2.1); times in milliseconds. */
export type Directives = {
  /** Legacy has to be asked. */
  noCache?: true;
  /** The answer must not be stored. */
  noStore?: true;
  onlyIfCached?: true;
  maxAge?: number;
  /** Of the gateway's own requests: no answer that is stale. */
  onlyFresh?: true;
};

const noDirectives: Directives = {};

/** Reads `Cache-Control`, or `Pragma` where there is none of it. Unknown and malformed directives are ignored. */
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
