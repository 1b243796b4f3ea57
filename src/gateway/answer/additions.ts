import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { HttpExchange } from "../../operation/index.ts";
import { type Decision, legacyDecision, type Served } from "../cache/served.ts";
import type { Step } from "../http/step.ts";
import type { CallerIdentity, Context, Layer } from "./context.ts";
import type { Core } from "./core.ts";
import type { Writes } from "./writes.ts";

/**
 * The steps of features, by the step of the core (`requestSteps`, server.ts) that they stand before. Before the
 * hit path they see each request, before the router those that the hit path left, before the pass-through legacy's.
 */
export type AddedSteps = Record<"hitPath" | "router" | "passThrough", readonly Step[]>;

/**
 * Answers beside those of endpoints, which describe them, as the router has to know them. Only the router knows that
 * a path is unknown, and answers its errors.
 */
export type Documents = {
  /**
   * The paths below each prefix that answer GET and HEAD. The router suggests them, and refuses other methods there.
   */
  paths: readonly string[];
  /** A value of `Link` for the answers to this path that no endpoint made: unknown paths, other methods. */
  linksOf: (path: string) => string | undefined;
};

/**
 * All that features add to the core: the interface is put together from both. Each member is required, so that the
 * compiler leads to the code of a member to which no feature adds any more.
 */
export type Additions = {
  /** They are asked for at the start and after each reload, which may add or remove a step. */
  steps: () => AddedSteps;
  /** They go around the handler that asks legacy, the innermost first. */
  layers: readonly Layer[];
  oldReadBackend: OldReadBackend | undefined;
  /**
   * The backend that answers this caller, and the stage. A refused request passes no layer, but its answer
   * names them too.
   */
  decide: (endpoint: string, asker: CallerIdentity) => Decision;
  /**
   * Backends whose answers to endpoints are cached beside those of legacy. An address has an entry for each: without
   * this the core would find, and remove, legacy's alone.
   */
  backends: readonly string[];
  /** False: an answer from the cache needs more than looking it up. The request goes on as if its path were unknown. */
  mayHit: readonly ((endpoint: string, isKeyed: boolean, headers: IncomingHttpHeaders) => boolean)[];
  /**
   * The same for reads of the legacy interface: a brown-out stands behind the hit path, and would not reach
   * requests whose answers are stored.
   */
  mayHitOldRead: readonly ((exchange: HttpExchange) => boolean)[];
  documents: readonly Documents[];
  /** Headers, flat, for any answer to a request that is legacy's. */
  legacyHeaders: readonly ((exchange: HttpExchange) => readonly string[] | undefined)[];
  /**
   * They see a request to legacy's interface, other than a read by GET or HEAD, when its answer has begun, or none will
   * come. `body`: the beginning of its body (latin1), which may hold the key. The body streams past: only the core,
   * which looks for writes in it, can collect it once.
   */
  onLegacyBody: readonly ((req: IncomingMessage, body: string) => void)[];
  /**
   * An exchange is over. `response` is absent where no request was read: the HTTP parser refused it, or
   * its connection was refused.
   */
  onExchange: readonly ((exchange: HttpExchange, response?: ServerResponse) => void)[];
  /** An operator has planned the answer of this exchange: a 5xx is no failure. */
  isPlanned: readonly ((exchange: HttpExchange) => boolean)[];
  /** The object that features get, too, if they answer writes. */
  writes: Writes;
  /** True while features replace all that legacy gives, except its word on keys. */
  legacyOnlyChecksKeys: () => boolean;
};

/** A backend that answers reads of the legacy interface in legacy's place, with documents of the new interface. */
export type OldReadBackend = {
  /** Identifies the backend in cache keys. */
  backend: string;
  /** True if reads of old clients follow this endpoint's stage now: `decide` then says which side answers a caller. */
  mayAnswer: (endpoint: string) => boolean;
  /** The backend's answer, or an entry of it; `undefined`: it has none, and legacy answers. */
  read: (context: Context) => Promise<Served | undefined>;
  /** The backend's earlier answer, for when neither side answers; `undefined`: there is none. */
  readStored: (context: Context) => Promise<Served | undefined>;
  /** Counts an answer to an old client by the side that made it. */
  count: (decision: Decision) => void;
};

/** Parts of the lines that a start prints: `listensOn` joins the first line, `line` follows it. */
export type Started = { listensOn?: string; line?: string };

/** The additions of a gateway without features. */
export const nothing = ({ openWrites }: Pick<Core, "openWrites">): Additions => ({
  steps: () => ({ hitPath: [], router: [], passThrough: [] }),
  layers: [],
  oldReadBackend: undefined,
  decide: () => legacyDecision,
  backends: [],
  mayHit: [],
  mayHitOldRead: [],
  documents: [],
  legacyHeaders: [],
  onLegacyBody: [],
  onExchange: [],
  isPlanned: [],
  writes: openWrites([]),
  legacyOnlyChecksKeys: () => false,
});
