import type { EventEmitter } from "node:events";
import type { DeclaredLifetimes, ErrorTable, ReadLegacyTarget } from "../../catalogue/index.ts";
import type { ByteBudget, Dependencies, Meter, Observer, Settings, Traffic } from "../../operation/index.ts";
import type { Guard } from "../http/guard.ts";
import type { ClientLimits } from "../http/httpServer.ts";
import type { OwnErrors } from "../http/ownErrors.ts";
import type { ErrorFormats } from "../http/problemDetails.ts";
import type { UntrustedProxies } from "../upstream/forwarding.ts";
import type { NoteLoop } from "../upstream/loops.ts";
import type { AnswerFunctions } from "./answerFunctions.ts";
import type { Cache } from "../cache/cache.ts";
import type { FetchPath, LegacyClient } from "../upstream/legacyClient.ts";
import type { LegacyTrouble } from "../upstream/legacyFaults.ts";
import type { LegacyOutage } from "../upstream/legacyOutage.ts";
import type { Reader } from "../threads/reader.ts";
import type { Keys } from "./keys.ts";
import type { JudgeEmpty } from "./emptyLists.ts";
import type { Catalogue, PreparedEndpoint } from "./prepared.ts";
import type { UnconfirmedWrites } from "./unconfirmedWrites.ts";
import type { OnWrite, Writes } from "./writes.ts";

/**
 * Legacy's answer to one request of an endpoint: milliseconds for all requests that it took, and the
 * status that the client gets.
 */
type LegacyAnswered = { endpoint: string; ms: number; status: number };

/**
 * An event that operators may want to know of at once: its type such as `stage.moved`, when (ISO 8601),
 * and facts without secrets.
 */
export type Notice = { type: string; at: string } & Record<string, unknown>;

/** The events while the gateway serves, with the arguments of their listeners. */
export type CoreEvents = {
  legacyAnswer: [LegacyAnswered];
  /**
   * Legacy has answered a read of an old client with a document, of an endpoint in `provedReads`. `path`: of the
   * request, without its query. `lost`: at most 20 places at which our document, written in legacy's form, differs.
   */
  oldAnswerRead: [{ endpoint: string; path: string; lost: readonly string[] }];
  /** Legacy has refused a key: its salted hash. */
  keyRefused: [id: string];
  /** All features have taken changed settings. */
  reloaded: [];
  /** A feature has a notice for operators. */
  notice: [Notice];
};

/** The core as features know it. A feature names with `Pick` the parts that it uses. */
export type Core = AnswerFunctions & {
  /** `LEGACY_URL` is an origin, that of the sample legacy too. */
  settings: Settings;
  catalogue: Catalogue;
  endpoints: readonly PreparedEndpoint[];
  /** The lifetimes of cached answers, by endpoint, as in force. */
  lifetimes: Readonly<Record<string, DeclaredLifetimes>>;
  /** The answers to legacy's errors, by code. */
  errors: ErrorTable;

  observer: Observer;
  meter: Meter;
  traffic: Traffic;
  dependencies: Dependencies;
  events: EventEmitter<CoreEvents>;
  /** Bounds the bytes of bodies and answers: that are collected, wait to be read, or wait to be sent. */
  memory: ByteBudget;
  /** Opens `Writes`, once the features that see them are open. */
  openWrites: (observers: readonly OnWrite[]) => Writes;

  reader: Reader;
  /** The endpoints whose documents for old clients are compared with ours. Features fill it; the core reads it. */
  provedReads: Set<string>;
  cache: Cache;
  /** Decides whether a list without rows is believed. */
  judgeEmpty: JudgeEmpty;
  keys: Keys;
  /** Milliseconds for one request, all of its requests to legacy together. */
  totalTimeout: number;
  /** Lists the troubles with the answers of a legacy that does not fail. */
  legacyTroubles: () => LegacyTrouble[];
  /** The words on a legacy that only checks keys; `undefined` while it does more. */
  keysAlone: LegacyOutage["keysAlone"];
  /** The share of the connections to legacy that requests use or wait for: 0 if there are no connections. */
  load: () => number;

  clientLimits: ClientLimits;
  /** Handles errors that are thrown while a request of a client is answered. */
  guard: Guard;
  /** The peers whose forwarded headers are not believed. */
  untrustedProxies: UntrustedProxies;
  /** The gateway only checks its configuration: it stores nothing, and legacy answers everything. */
  isCheck: boolean;
};

/** The core as its own modules know it, with the parts that no feature gets. */
export type WholeCore = Core & {
  /** Asks legacy for the documents from which our answers are made. */
  client: LegacyClient;
  unconfirmed: UnconfirmedWrites;
  /** The gateway's own key, for requests that legacy answers only with a key. */
  serviceKey: ServiceKey | undefined;
  /** Asks legacy for a path of the legacy interface, for all callers. */
  fetchPath: FetchPath;
  outage: Pick<LegacyOutage, "isOn" | "isLate" | "isInDoubt" | "mayPass" | "settled" | "onChange">;
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
