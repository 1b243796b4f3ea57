import type { CacheKey, Directives } from "../cache/cacheRequest.ts";
import type { Side } from "./movedRead.ts";
import type { PathRead } from "./pathRead.ts";
import type { ReadSender } from "./whoAsks.ts";

/** A read of legacy's interface that the cache may answer: the path, the sender, and the cache request. */
export type OldRead = PathRead &
  ReadSender & {
    cacheKey: CacheKey;
    /** The form of a read by POST. Legacy demands a key for it, and gives the same answer to each key. */
    posted?: string;
    /** The side that answers it; absent if it does not follow its endpoint's stage. */
    side?: Side | undefined;
    /** The id of the caller's key. */
    owner: string | undefined;
    /** The client's address. */
    client: string;
    /** The request's Cache-Control. */
    wanted: Directives;
  };
