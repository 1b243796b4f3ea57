import type { CacheKey, Directives } from "../cache/cacheRequest.ts";
import { type Answered, untagged } from "../cache/reply.ts";
import type { Answer } from "../../catalogue/endpoint/answer.ts";
import type { LegacyRequest, Unsent } from "../../catalogue/endpoint/legacyRequest.ts";
import type { Caller } from "../upstream/legacyClient.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** A request whose credential is well-formed and whose input is valid. `legacy`: the request to legacy, or why there is none. */
export type EndpointRequest = {
  endpoint: PreparedEndpoint;
  input: Record<string, unknown>;
  legacy: LegacyRequest | Unsent;
  /** What the client's `Cache-Control` asks for. */
  wanted: Directives;
  /** The answer is neither taken from the cache nor stored. */
  bypass?: boolean;
};

/** The caller of one request, with what its endpoint may need to know of it. */
export type RequestCaller = Caller & {
  client: string;
  spent: { calls: number; ms: number };
  /** The value of one of the client's headers, all of its lines joined by commas. */
  header: (name: string) => string | undefined;
  /**
   * Verifies the caller's key with legacy, at most once a minute. The result is the refusal; `undefined` lets the caller in. `byModern`: the
   * answer does not need legacy. If legacy cannot be asked then, a key that it accepted within the last hour counts, and another is 503.
   */
  authorize: (byModern?: boolean) => Promise<Answer | undefined>;
  /** The same caller, for a read that its write depends on. */
  asReader: () => RequestCaller;
  /** The same caller, for a request that no client waits for: with a deadline of its own. */
  background: () => Caller;
};

/** An answer on its way to the client. */
export type Served = Answered & {
  /** Where a GET of the same path finds the answer in the cache. */
  cacheKey?: CacheKey;
  /** Who answered, unless that is legacy because nothing is migrated. */
  decision?: Decision;
  /** A list that may lack rows which the caller may see. */
  isIncomplete?: boolean;
  /** Another caller may get another backend's answer: no cache between may share it. */
  isDivided?: boolean;
  /** What is to be done when the answer has been sent. */
  afterwards?: () => void;
};

/** Answers one request of one endpoint, on behalf of one caller. */
export type Backend = (request: EndpointRequest, caller: RequestCaller) => Promise<Served>;

/** Adds to a backend, as undici's interceptors add to a dispatcher. */
export type Layer = (next: Backend) => Backend;

/** Which backend answered, in which stage of a migration, and why: the header `Gateway-Decision`. */
export type Decision = { stage: string; backend: string; bucket?: number; reason: string };

/** `stage=canary; backend=modern; bucket=37; reason=share`; `private=incomplete` where the list may lack rows that the caller may see. */
export const decisionHeader = ({ stage, backend, bucket, reason }: Decision, isIncomplete = false): string =>
  `stage=${stage}; backend=${backend}${bucket === undefined ? "" : `; bucket=${bucket}`}; reason=${reason}${isIncomplete ? "; private=incomplete" : ""}`;

/** How an endpoint that is not migrated answers. */
export const legacyDecision: Decision = { stage: "legacy", backend: "legacy", reason: "stage" };

/** An answer for one caller alone. `fwd`: why a backend was asked (RFC 9211); absent where the gateway answered by itself. */
export const uncached = (answer: Answer, fwd?: "method" | "bypass"): Answered => ({
  representation: untagged(answer),
  how: fwd === undefined ? { detail: "settled" } : { fwd },
});
