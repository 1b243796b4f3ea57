import type { EventEmitter } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { OpenSharedTier } from "../cache/sharedTier.ts";
import type { DeclaredLifetimes, ErrorTable, ReadLegacyTarget } from "../../catalogue/index.ts";
import {
  allOf,
  type ByteBudget,
  type Dependencies,
  type EventDefinitions,
  type HttpExchange,
  type Meter,
  type Observer,
  type Settings,
  type Traffic,
  type WhenOff,
} from "../../operation/index.ts";
import type { Context as HonoContext, Hono } from "hono";
import type { Guard } from "../http/guard.ts";
import type { Step } from "../http/step.ts";
import type { ClientLimits } from "../http/httpServer.ts";
import type { OwnErrors } from "../http/ownErrors.ts";
import type { ErrorFormats } from "../http/problemDetails.ts";
import type { UntrustedProxies } from "../upstream/forwarding.ts";
import type { NoteLoop } from "../upstream/loops.ts";
import { type Decision, legacyDecision } from "../cache/served.ts";
import type { AnswerFunctions } from "./answerFunctions.ts";
import type { CallerIdentity, Layer } from "./context.ts";
import type { Cache } from "../cache/cache.ts";
import type { FoundEntry } from "../cache/tieredEntries.ts";
import type { FetchPath, LegacyClient } from "../upstream/legacyClient.ts";
import type { LegacyTrouble } from "../upstream/legacyFaults.ts";
import type { LegacyWatch } from "../upstream/watchLegacy.ts";
import type { Reader } from "../threads/reader.ts";
import type { Keys } from "./keys.ts";
import type { JudgeEmpty } from "./emptyLists.ts";
import type { Catalogue, PreparedEndpoint } from "./prepared.ts";
import type { UnconfirmedWrites } from "./unconfirmedWrites.ts";

/**
 * Legacy's answer to one request of an endpoint: milliseconds for all requests that it took, and the
 * status that the client gets.
 */
type LegacyAnswered = { endpoint: string; ms: number; status: number };

/**
 * A write that legacy or the new implementation has got. `hold`: its answer is lost, so it may have happened or not,
 * and may still be going on for so many milliseconds.
 */
export type Write = {
  groups: readonly string[];
  hold?: number;
  /**
   * A write of the legacy interface: its path, the entities that it names beside its groups, and how its answer begins,
   * in latin1; `undefined` where that is lost.
   */
  proxied?: { path: string; named: readonly string[]; answerText: () => string | undefined };
};

/** What a feature does with requests that are passed through to legacy. */
type ProxyHooks = {
  /** Headers, flat, for any answer. */
  headers?: (exchange: HttpExchange) => readonly string[] | undefined;
  /**
   * As that of the feature, for reads of legacy's own interface: a brown-out stands behind the hit path, and would
   * not come to requests whose answers are stored.
   */
  mayHitPathAnswer?: (exchange: HttpExchange) => boolean;
  /**
   * Sees a request to legacy's interface, other than a read by GET or HEAD, when its answer has begun, or none will
   * come. `body`: the beginning of its body (latin1), which may hold the key. The body streams past: only the core,
   * which looks for writes in it, can collect it once.
   */
  onBody?: (req: IncomingMessage, body: string) => void;
};

/**
 * An event that operators may want to know of at once: its type such as `stage.moved`, when (ISO 8601),
 * and facts without secrets.
 */
export type Notice = { type: string; at: string } & Record<string, unknown>;

/**
 * The core's step before which a step of a feature stands. It sees before the hit path each request, before the router
 * what the hit path left, before the pass-through what is legacy's.
 */
export type StepPlace = "hitPath" | "router" | "passThrough";

/**
 * What the router has to know of answers beside those of endpoints, which describe them. Only the router knows that
 * a path is unknown, and answers its errors.
 */
export type Documents = {
  /**
   * The paths below each prefix that the feature answers to GET and HEAD. The router suggests them, and
   * refuses other methods there.
   */
  paths: readonly string[];
  /** A value of `Link` for the answers to this path that no endpoint made: unknown paths, other methods. */
  linksOf: (path: string) => string | undefined;
};

/**
 * Everything the core asks of a feature that is open; every member is optional. `Part`: what it adds to the operators'
 * page. `Report`: what its part of `--check` works with, which the command alone calls: the core never does.
 */
export type Feature<Part = unknown, Report = never> = {
  /** Answers requests in the order of `requestSteps` (server.ts), or hands them on. A reload may add or remove it. */
  step?: { before: StepPlace; answer: Step } | undefined;
  documents?: Documents;
  layer?: Layer;
  /**
   * Identifies a backend whose answers to endpoints are cached beside those of legacy. An address has an entry for each
   * backend: without this the core would find, and remove, legacy's alone.
   */
  backend?: string | undefined;
  /** False: an answer from the cache needs more than looking it up. The request goes on as if its path were unknown. */
  mayHitPathAnswer?: (endpoint: string, isKeyed: boolean, headers: IncomingHttpHeaders) => boolean;
  /**
   * Which backend answers this caller, and in which stage. A request that is refused passes no layer, and its answer
   * says so too.
   */
  decide?: (endpoint: string, asker: CallerIdentity) => Decision;
  /**
   * An exchange is over. `response` is absent where no request was read: the HTTP parser refused it, or
   * its connection was refused.
   */
  onExchange?: (exchange: HttpExchange, response?: ServerResponse) => void;
  /**
   * What the feature gives in legacy's place now: every endpoint's answers, or those of legacy's own interface. No
   * feature knows both: the core joins them, to report what a failure of legacy means.
   */
  replaces?: () => "endpoints" | "interface" | undefined;
  /**
   * Sees a write before its answer goes out, which waits for the promise that this gives: a later read must find what
   * the write has changed. The core calls it for each write: of an endpoint, and of one that passes through.
   */
  onWrite?: (write: Write) => Promise<void> | undefined | void;
  proxy?: ProxyHooks;
  /**
   * Makes what answers operators, of the app that answers their programs, once the gateway listens. `signIn`: what
   * a browser without a token gets. `address`: where the new interface is served.
   */
  operatorsApp?: (makeApp: (signIn?: (c: HonoContext) => Promise<Response>) => Hono, address: string) => Promise<Hono>;
  /** For the feature `console` alone, which knows its type. */
  console?: Part;
  /** For the command `check` alone, which knows its type. */
  check?: (report: Report) => Promise<void>;
  /** Puts changed settings in force. */
  reload?: (settings: Settings) => Promise<void> | void;
  /**
   * Begins what runs in the background. `address`: where the new interface is served, `http://127.0.0.1:8000/v1`.
   * `listensOn` joins the first line printed at start, `line` follows it.
   *
   * @throws What stops the start.
   */
  start?: (address: string) => Promise<{ listensOn?: string; line?: string }>;
  close?: () => Promise<void>;
};

/** What happens while the gateway serves, with what listeners get. */
export type CoreEvents = {
  legacyAnswer: [LegacyAnswered];
  /** Legacy has refused a key: its salted hash. */
  keyRefused: [owner: string];
  /** All features have taken changed settings. */
  reloaded: [];
  /** A feature has a notice for operators. */
  notice: [Notice];
};

/** What is stored for everybody, by the address of a read of either interface. */
export type StoredAnswers = {
  /** `undefined` where the address is that of no read that may be stored. */
  find: (address: string) => Promise<FoundEntry[] | undefined>;
  /** Deletes them in all gateways. `notAcknowledged`: another gateway, or Redis, has not done so yet. */
  remove: (address: string) => Promise<"unknown" | "removed" | "notAcknowledged">;
};

/**
 * What features get of the core. Its members are set once; `features` is filled while they are opened, each with this
 * core. A feature says with `Pick` what it takes of it.
 */
export type Core = AnswerFunctions & {
  /** `LEGACY_URL` is an origin, that of the sample legacy too. */
  settings: Settings;
  catalogue: Catalogue;
  endpoints: readonly PreparedEndpoint[];
  /** How long answers are cached, by endpoint, as in force. */
  lifetimes: Readonly<Record<string, DeclaredLifetimes>>;
  /** How legacy's errors are answered, by code. */
  errors: ErrorTable;

  observer: Observer;
  meter: Meter;
  traffic: Traffic;
  dependencies: Dependencies;
  events: EventEmitter<CoreEvents>;
  /** Bounds the bytes of bodies and answers: that are collected, wait to be read, or wait to be sent. */
  memory: ByteBudget;

  reader: Reader;
  cache: Cache;
  /** Says what a list without rows counts for. */
  judgeEmpty: JudgeEmpty;
  /** Looks up what is stored for an address, once all features are open. */
  stored: () => StoredAnswers;
  keys: Keys;
  /** Milliseconds for one request, all of its requests to legacy together. */
  totalTimeout: number;
  /** What is wrong with the answers of a legacy that does not fail. */
  legacyTroubles: () => LegacyTrouble[];
  /** The share of the connections to legacy that requests use or wait for: 0 where there are none. */
  load: () => number;

  /** The features that have been opened, in their order; complete when the first of them starts. */
  features: readonly Feature[];
  hooks: Hooks;
  /** What is said of features that are not loaded. */
  off: readonly WhenOff[];
  clientLimits: ClientLimits;
  /** For what is thrown while a request of a client is answered. */
  guard: Guard;
  /** The peers whose forwarded headers are not believed. */
  untrustedProxies: UntrustedProxies;
  isStopping: () => boolean;
  /** The gateway only checks its configuration: it stores nothing, and legacy answers everything. */
  isCheck: boolean;
};

/** The core as its own modules know it: with what no feature gets. */
export type WholeCore = Core & {
  /** Asks legacy for what our answers are made of. */
  client: LegacyClient;
  unconfirmed: UnconfirmedWrites;
  /** The gateway's own key, for what legacy answers only with one. */
  serviceKey: ServiceKey | undefined;
  /** Asks legacy for a path of its own interface, for everybody. */
  fetchPath: FetchPath;
  outage: Pick<LegacyWatch, "isOn" | "isLate" | "isInDoubt" | "mayPass" | "settled" | "onChange">;
  errorFormats: ErrorFormats;
  ownErrors: OwnErrors;
  /** Reads the target of a request to legacy's interface. */
  readTarget: ReadLegacyTarget;
  /** Says whether a peer's forwarded headers are believed. */
  trusted: (address: string) => boolean;
  /** A request has come back to this gateway. */
  noteLoop: NoteLoop;
};

/** A key of the gateway's own. `report`: whether legacy has accepted it. */
type ServiceKey = { key: string; report: (isAccepted: boolean) => void };

/**
 * What the cache's second tier is opened with, before there is a core. `longest`: milliseconds
 * that any entry is stored.
 */
export type TierOptions = { observer: Observer; meter: Meter; dependencies: Dependencies; longest: number };

/**
 * The part of a feature that is loaded where its settings ask for it. Methods: they may take the
 * settings with the feature's own.
 */
export type FeatureModule = {
  events?: EventDefinitions;
  /** The first feature that has a tier gives it to the cache, which is opened before there is a core for features. */
  sharedTier?(this: void, settings: Settings, options: TierOptions): OpenSharedTier;
  /** @throws With the setting's name, where the feature cannot be opened. */
  open?(this: void, core: Core, settings: Settings): Feature | Promise<Feature>;
};

/** What the core asks its features while it serves, and waits for. */
type Hooks = Required<Pick<Feature, "decide" | "onWrite">> & {
  /** What is said of a legacy that only checks keys, since features replace all that it answers. */
  keysAlone: () => typeof KEYS_ALONE | undefined;
};

const KEYS_ALONE = {
  only: "keys",
  trouble: "Legacy, which only checks keys, has been failing",
  effect: "callers with a key that it has not accepted within the last hour are answered 503",
  calm: "legacy only checks keys",
  line: "legacy only checks keys: no endpoint needs it, and old clients are answered 410",
};

/** Calls the same member of each feature; `features` may grow until the first request. */
export const hooksOf = (features: readonly Feature[]): Hooks => ({
  decide: (...asked) => features.find(({ decide }) => decide)?.decide?.(...asked) ?? legacyDecision,
  onWrite: (write) => allOf(features.map((one) => one.onWrite?.(write))),
  keysAlone() {
    const replaced = new Set(features.map((one) => one.replaces?.()));
    return replaced.has("endpoints") && replaced.has("interface") ? KEYS_ALONE : undefined;
  },
});
