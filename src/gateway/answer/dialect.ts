import type { IncomingMessage } from "node:http";
import type { HttpExchange } from "../../operation/index.ts";
import type { CacheKey } from "../cache/cacheRequest.ts";
import type { Decision } from "../cache/served.ts";
import type { Step } from "../http/step.ts";
import type { Reply, WriteHeaders } from "../cache/reply.ts";

// The hit path answers reads of the new and of the legacy interface. A dialect is the difference between them.

/** A request for a known path: its cache key, and its caller. */
type KnownRequest = {
  cacheKey: CacheKey;
  /** The id of the caller's key. */
  owner: string | undefined;
  /** It came with a key or a session, or other callers get another side's answer. */
  keyed: boolean;
  /** The name of the entry's form that answers it, if that is not the entry itself. */
  form?: string | undefined;
  /** The side that answers the caller, if a read of the legacy interface follows its endpoint's stage. */
  decision?: Decision | undefined;
};

/** The differences of one interface when the hit path answers its reads. `Read`: the knowledge of a path. */
export type Dialect<Read> = {
  /** Its reads are those of the legacy interface: of no endpoint, proxied, and stored only as public answers. */
  isOfLegacy: boolean;
  /** Bytes of one known path beside its text, as measured: two places in maps, and the knowledge. */
  bytes: number;
  /** Reads a request for a known path; `undefined`: its answer takes more than looking it up. */
  ask(request: IncomingMessage, exchange: HttpExchange, read: Read): KnownRequest | undefined;
  /** The CORS headers of an answer, and those that features add to it, flat. */
  cors(request: IncomingMessage, exchange: HttpExchange): readonly string[];
  /** Writes the other headers, where they differ from those of the new interface. */
  writeHeaders?: WriteHeaders;
  /** Counts an answer that took `ms` milliseconds; without a `reply` there was no room for it. */
  count(asked: KnownRequest, reply: Reply | undefined, ms: number): void;
};

/** Stands before the router and the pass-through: it answers from memory at once, where a path is known. */
export type HitPath = {
  /** Answers a request at once, or hands it on at once where that takes more than looking it up. */
  answer: Step;
  /** Remembers the knowledge of a path in this dialect. */
  learn: <Read>(path: string, dialect: Dialect<Read>, read: Read) => void;
  /** The knowledge of a path that is remembered in this dialect. */
  recall: <Read>(path: string, dialect: Dialect<Read>) => Read | undefined;
};
