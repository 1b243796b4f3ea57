import type { IncomingMessage, ServerResponse } from "node:http";
import type { Hono } from "hono";
import type { OpenSharedTier } from "../cache/sharedTier.ts";
import type { DeclaredLifetimes } from "../cache/lifetimes.ts";
import type { Settings } from "../settings/settings.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { LegacyPaths } from "../endpoint/legacyPaths.ts";
import type { LegacyWriteKnowledge } from "../endpoint/legacyWrites.ts";
import type { LedgerEntry } from "../compare/ledger.ts";
import { openMigration } from "../features/migration/migration.ts";
import { memoryStateStore } from "../features/migration/store/stateStore.ts";
import type { StateStore } from "../features/migration/store/stateStore.ts";
import type { Judging } from "../modern/client.ts";
import { openModern } from "../modern/openModern.ts";
import { guarded } from "../legacy/guarded.ts";
import { legacyClient } from "../legacy/client.ts";
import { legacyTargets } from "../legacy/legacyTarget.ts";
import { metered } from "../legacy/metered.ts";
import type { ClientLimits } from "../http/httpServer.ts";
import { openMeter } from "../telemetry/meter.ts";
import type { Observer } from "../telemetry/observer.ts";
import type { RedisTierSettings } from "../features/sharedCache/redisTier.ts";
import { type PassThrough, passThrough } from "../proxy/passThrough.ts";
import { SMALL_BODY } from "../proxy/upload.ts";
import { type OldClients, openOldClients } from "../features/retirement/retirement.ts";
import { openByteBudget } from "../concurrency/byteBudget.ts";
import { trustedProxies } from "../upstream/trustedProxies.ts";
import { openUpstream } from "../upstream/upstream.ts";
import { gatewayApp } from "./app.ts";
import { FOR_PATHS, openCaching } from "./caching.ts";
import { type Front, openFront } from "./front.ts";
import { type KeyProbes, openKeys } from "./keys.ts";
import type { ErrorTable } from "../legacy/legacyOutcome.ts";
import { observePassThrough } from "./observePassThrough.ts";
import type { Services } from "./services.ts";
import { prepare } from "./prepared.ts";
import { openUnconfirmedWrites } from "./unconfirmedWrites.ts";
import { openReadingOf } from "./openReadingOf.ts";
import type { ReaderSettings } from "../reading/reader.ts";
import { openPrivateRowsOf } from "./openPrivateRowsOf.ts";
import type { PrivateRowsKnowledge } from "../features/privateDatasets/knowledge.ts";
import type { WalkWays } from "../features/privateDatasets/walk.ts";
import type { OpenIndexStore } from "../features/privateDatasets/store/indexStore.ts";

/** What is known of one legacy interface and of what replaces it. */
export type Catalogue = {
  endpoints: Record<string, Endpoint>;
  errors: ErrorTable;
  keyProbes: KeyProbes;
  legacyStudies: readonly number[];
  /** The paths under which the legacy interface answers, and writes. */
  legacyPaths: LegacyPaths;
  /** What is written, and only read, through the legacy interface itself. */
  passing: LegacyWriteKnowledge;
  /** By endpoint: changes when what it answers may change. */
  versions: Readonly<Record<string, string>>;
  /** The URL of the module that exports the same `endpoints`, for the threads that read large answers; without it they are read in this one. */
  module?: string;
  /** The rows that a list keeps from administrators. */
  privateRows?: PrivateRowsKnowledge;
  /** The path of the ledger of expected differences that ships. */
  expectedDifferences: string;
};

export type Gateway = {
  app: Hono<{ Bindings: Partial<{ incoming: IncomingMessage; outgoing: ServerResponse }> }>;
  passThrough: PassThrough;
  front: Front;
  services: Services;
  oldClients: OldClients;
  /** How long answers hold, by endpoint, as it is in force. */
  windows: Record<string, DeclaredLifetimes>;
  clientLimits: ClientLimits;
  /** False where requests do not get to the connections to legacy any more; whether legacy answers says nothing here. */
  dispatches: () => Promise<boolean>;
  /** Waits for what legacy still answers, then closes the connections to it. */
  close: () => Promise<void>;
};

/** What is opened beside it, where there is any. */
export type GatewayParts = {
  redisTier?: ((settings: RedisTierSettings) => OpenSharedTier) | undefined;
  /** Where what is set at run time is kept; else only in memory. */
  store?: StateStore;
  /** The ledger of expected differences. */
  expected?: readonly LedgerEntry[];
  /** Where the index of private rows is kept; else only in memory. */
  openIndexStore?: OpenIndexStore;
  /** How they are looked for, where it is not as usual. */
  walk?: WalkWays;
  /** Milliseconds until a mismatch is asked again, and between two looks at the gates. */
  times?: { settle?: number; look?: number };
  /** How large answers are read, where it is not as usual. */
  reading?: Partial<Pick<ReaderSettings, "large" | "idle" | "queue" | "module">>;
};

/** Bytes of clients' JSON bodies that are being received; one alone may be larger. */
const MAX_BODIES_BYTES = 64 * 1024 ** 2;

/** Callers take so much of the connections before what runs in the background waits for them. */
const BUSY = 1 / 4;

/** Puts the gateway together; nothing is connected or listens yet. */
export const openGateway = (
  settings: Settings & { LEGACY_URL: string },
  catalogue: Catalogue,
  observer: Observer,
  {
    redisTier,
    store = memoryStateStore(),
    expected = [],
    openIndexStore,
    walk = {},
    times = {},
    reading = {},
  }: GatewayParts = {},
): Gateway => {
  const replies = openByteBudget(settings.MAX_REPLIES_BYTES);
  const bodies = openByteBudget(Math.max(MAX_BODIES_BYTES, settings.MAX_BODY_BYTES));
  const upstream = (slowConnections: number) =>
    openUpstream({
      origin: settings.LEGACY_URL,
      connections: settings.MAX_CONNECTIONS,
      slowConnections,
      waiting: settings.MAX_WAITING,
      waitTimeout: settings.WAIT_TIMEOUT_MS,
      connectTimeout: settings.CONNECT_TIMEOUT_MS,
      headersTimeout: settings.HEADERS_TIMEOUT_MS,
      bodyTimeout: settings.BODY_TIMEOUT_MS,
      replies,
    });
  // Each its own connections: downloads that pass through do not hold up what is transformed.
  const transformed = upstream(0);
  const passed = upstream(settings.MAX_CONNECTIONS);

  const meter = openMeter(() => observer.counts());
  const legacyPath = settings.LEGACY_PATH === "/" ? "" : settings.LEGACY_PATH;
  const host = settings.LEGACY_HOST ?? new URL(settings.LEGACY_URL).host;
  const client = metered(
    guarded(legacyClient(transformed, { path: legacyPath, host, maxReply: settings.MAX_REPLY_BYTES })),
    meter,
  );
  const legacyStudies = settings.LEGACY_STUDIES ?? catalogue.legacyStudies;
  const knowledge = { legacyStudies: new Set(legacyStudies) };
  const reader = openReadingOf(settings, catalogue, knowledge, { meter, observer, reading });
  const judging: Judging = {
    errors: catalogue.errors,
    ledger: () => migration.ledger(),
    check: (...asked) => reader.checkModern(...asked),
  };
  const modern =
    settings.MODERN_URL === undefined ? undefined : openModern(settings.MODERN_URL, settings, judging, replies);
  const migration = openMigration({
    endpoints: catalogue.endpoints,
    configured: settings.STAGES,
    expected,
    store,
    hasModern: modern !== undefined,
    budget: {
      concurrency: settings.MIRROR_CONCURRENCY,
      rate: settings.MIRROR_RATE,
      bytes: settings.MIRROR_BYTES,
    },
    observer,
    onCompared: meter.compared,
    onMoved: (endpoint) => void cache.drop({ endpoint, soft: false }),
    ...times,
  });
  meter.total("log_lines_dropped", "Lines of the log that were dropped because its reader was too slow.", () =>
    observer.droppedLines(),
  );
  meter.gauge("collecting_bytes", "Bytes of answers that are being collected.", () => replies.held);
  meter.total("crowded_replies", "Answers given up because of MAX_REPLIES_BYTES.", () => replies.refused);
  meter.gauge("receiving_bytes", "Bytes of clients' JSON bodies that are being received.", () => bodies.held);
  meter.total("crowded_bodies", "Such bodies refused because too many come at a time.", () => bodies.refused);
  meter.total("mirror_shed", "Comparisons left out for lack of budget.", () => migration.shed());
  const { cache, windows } = openCaching(settings, catalogue.endpoints, { meter, observer, redisTier });
  const keys = openKeys(client, catalogue.keyProbes, catalogue.errors, (owner) => {
    cache.forget(owner);
    services.privateRows?.forget(owner);
  });
  const unconfirmed = openUnconfirmedWrites({
    keys,
    timeout: settings.TOTAL_TIMEOUT_MS,
    onError: (error) => observer.log.error({ event: "internal_error", error: (error as Error).stack }),
  });
  const services: Services = {
    client,
    keys,
    unconfirmed,
    errors: catalogue.errors,
    knowledge,
    reader,
    cache,
    migration,
    ...(modern
      ? {
          modern: { client: modern.client, timeout: settings.MODERN_TIMEOUT_MS, routes: settings.MODERN_ROUTES },
        }
      : {}),
    addresses: {
      legacy: settings.LEGACY_URL + settings.LEGACY_PATH,
      candidate: settings.MODERN_URL ?? "",
    },
    meter,
    observer,
    ...(settings.LEGACY_API_KEY === undefined ? {} : { serviceKey: settings.LEGACY_API_KEY }),
    totalTimeout: settings.TOTAL_TIMEOUT_MS,
  };
  const privateRows = openPrivateRowsOf(settings, catalogue, services, {
    openStore: openIndexStore,
    isBusy: () =>
      [transformed, passed].some(({ gate }) => gate.waiting > 0 || gate.running > BUSY * settings.MAX_CONNECTIONS),
    ways: walk,
  });
  if (privateRows) services.privateRows = privateRows;
  const trusted = trustedProxies(settings.TRUSTED_PROXIES);
  const oldClients = openOldClients(
    settings,
    catalogue.legacyPaths,
    () => Date.now(),
    (name, about) => observer.event(name, about),
  );
  meter.total("brownout_answers", "Requests that a brown-out answered in legacy's place.", oldClients.refused);
  const pass = passThrough(passed, {
    host: settings.LEGACY_HOST,
    trusted,
    onAnswer: meter.passedThrough,
    watch: observePassThrough({
      passing: catalogue.passing,
      readTarget: legacyTargets(settings.LEGACY_PATH, catalogue.legacyPaths),
      cache,
      unconfirmed,
      oldClients,
      feed: privateRows?.feed,
    }),
    oldPaths: oldClients,
    uploads: { minRate: settings.MIN_UPLOAD_RATE, memory: SMALL_BODY * settings.MAX_WAITING },
    onEvent: ({ kind, method, path, error }) =>
      observer.event("pass_through_failed", { kind, method, path, why: error?.message }),
  });
  const front = openFront(services, settings.CORS_ORIGINS, settings.CACHE_BYTES * FOR_PATHS);
  const backends = {
    legacy: JSON.stringify(["legacy", settings.LEGACY_URL, settings.LEGACY_PATH, host, legacyStudies]),
    modern: JSON.stringify(["modern", settings.MODERN_URL, settings.MODERN_ROUTES]),
  };
  const endpoints = prepare(catalogue.endpoints, { versions: catalogue.versions, backends, windows });
  const app = gatewayApp(services, endpoints, {
    prefixes: settings.PREFIXES,
    corsOrigins: settings.CORS_ORIGINS,
    body: { most: settings.MAX_BODY_BYTES, timeout: settings.BODY_TIMEOUT_MS, budget: bodies },
    trusted,
    mayForce: settings.FORCE_BACKEND && modern !== undefined,
    passThrough: pass,
    front,
  });
  return {
    app,
    passThrough: pass,
    front,
    services: services,
    oldClients,
    windows,
    clientLimits: {
      sendTimeout: settings.SEND_TIMEOUT_MS,
      maxSendBytes: settings.MAX_SEND_BYTES,
      maxConnections: settings.MAX_CLIENT_CONNECTIONS,
    },
    dispatches: async () => (await Promise.all([passed.dispatches(), transformed.dispatches()])).every(Boolean),
    async close() {
      unconfirmed.close();
      await privateRows?.close();
      await migration.close();
      await Promise.all([transformed.close(), passed.close(), modern?.close()]);
      await reader.close();
      await cache.close();
    },
  };
};
