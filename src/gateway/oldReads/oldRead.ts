import type { CacheKey, Directives } from "../cache/cacheRequest.ts";
import type { PathRead } from "./pathRead.ts";
import type { ReadSender } from "./whoAsks.ts";

/** A read of legacy's own interface that the cache may answer: what is asked for, by whom, and how. */
export type OldRead = PathRead &
  ReadSender & {
    cacheKey: CacheKey;
    /** The form of a read that came by POST. Legacy answers it only with the caller's key, but alike with any. */
    posted?: string;
    /** The key, hashed. */
    owner: string | undefined;
    /** The client's address. */
    client: string;
    /** Its Cache-Control. */
    wanted: Directives;
  };
