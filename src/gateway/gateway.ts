import type { IncomingMessage, ServerResponse } from "node:http";
import type { Hono } from "hono";
import { openCache } from "../cache/cache.ts";
import type { OpenSharedTier } from "../cache/sharedTier.ts";
import { openStore } from "../cache/store.ts";
import { type DeclaredWindows, lifetime, type Windows, windowsBy, withUsual } from "../cache/windows.ts";
import type { Settings } from "../config/settings.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { LegacyWriteKnowledge } from "../endpoint/legacyWrites.ts";
import { legacyClient } from "../legacy/client.ts";
import { metered } from "../legacy/metered.ts";
import { openMeter } from "../meter.ts";
import type { Observer } from "../observe.ts";
import type { RedisTierSettings } from "../redis/redisTier.ts";
import { passThrough } from "../passThrough/passThrough.ts";
import { trustedProxies } from "../upstream/trustedProxies.ts";
import { openUpstream } from "../upstream/upstream.ts";
import { gatewayApp } from "./app.ts";
import { type Front, openFront } from "./front.ts";
import { type KeyProbes, openKeys } from "./keys.ts";
import type { ErrorTable } from "./legacyOutcome.ts";
import { passingWrite } from "./passingWrite.ts";
import type { Machine } from "./machine.ts";
import { prepare } from "./prepared.ts";
import { UNSETTLED } from "./serve.ts";

/** What is known of one legacy interface and of what replaces it. */
export type Catalogue = {
  endpoints: Record<string, Endpoint>;
  errors: ErrorTable;
  keyProbes: KeyProbes;
  legacyStudies: readonly number[];
  /** What is written, and only read, through the legacy interface itself. */
  passing: LegacyWriteKnowledge;
  /** By endpoint: changes when what it answers may change. */
  versions: Readonly<Record<string, string>>;
};

export type Gateway = {
  app: Hono<{ Bindings: Partial<{ incoming: IncomingMessage; outgoing: ServerResponse }> }>;
  passThrough: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  front: Front;
  machine: Machine;
  /** How long answers hold, by endpoint, as it is in force. */
  windows: Record<string, DeclaredWindows>;
  /** Waits for what legacy still answers, then closes the connections to it. */
  close: () => Promise<void>;
};

const windowsInForce = (
  endpoints: Record<string, Endpoint>,
  changed: Readonly<Record<string, Partial<DeclaredWindows>>>,
): Record<string, DeclaredWindows> =>
  Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, { cache }]) => {
      return cache === undefined ? [] : [[name, withUsual({ ...cache, ...changed[name] })]];
    }),
  );

const longestOf = (windows: Record<string, DeclaredWindows>): number =>
  Math.max(
    ...Object.values(windows).flatMap((declared) =>
      [200, 404, 412].map((status) => lifetime(windowsBy(declared)(status) as Windows)),
    ),
  );

/** Of the cache's bytes, for the paths that are known to ask what is kept. */
const FOR_PATHS = 1 / 16;

/** Puts the gateway together; nothing is connected or listens yet. */
export const openGateway = (
  settings: Settings & { LEGACY_URL: string },
  catalogue: Catalogue,
  observer: Observer,
  redisTier?: (settings: RedisTierSettings) => OpenSharedTier,
): Gateway => {
  const upstream = () =>
    openUpstream({
      origin: settings.LEGACY_URL,
      connections: settings.MAX_CONNECTIONS,
      waiting: settings.MAX_WAITING,
      connectTimeout: settings.CONNECT_TIMEOUT_MS,
      headersTimeout: settings.HEADERS_TIMEOUT_MS,
      bodyTimeout: settings.BODY_TIMEOUT_MS,
    });
  // Each its own connections: downloads that pass through do not hold up what is transformed.
  const transformed = upstream();
  const passed = upstream();

  const meter = openMeter(() => observer.counts());
  const legacyPath = settings.LEGACY_PATH === "/" ? "" : settings.LEGACY_PATH;
  const host = settings.LEGACY_HOST ?? new URL(settings.LEGACY_URL).host;
  const client = metered(
    legacyClient(transformed, { path: legacyPath, host, maxReply: settings.MAX_REPLY_BYTES }),
    meter,
  );
  const legacyStudies = settings.LEGACY_STUDIES ?? catalogue.legacyStudies;
  const store = openStore({
    bytes: Math.floor(settings.CACHE_BYTES * (1 - FOR_PATHS)),
    entryBytes: settings.CACHE_ENTRY_BYTES,
  });
  const windows = windowsInForce(catalogue.endpoints, settings.CACHE_WINDOWS);
  const openTier =
    settings.REDIS_URL === undefined
      ? undefined
      : redisTier?.({
          url: settings.REDIS_URL,
          timeout: settings.REDIS_TIMEOUT_MS,
          longest: longestOf(windows),
          onEvent: (event, about) => observer.event(event, about),
          count: meter.shared,
        });
  const cache = openCache({
    store,
    longest: settings.TOTAL_TIMEOUT_MS,
    openTier,
    count: meter.cache,
    onError: (error) => observer.log.error({ event: "internal_error", error: (error as Error).stack }),
  });
  meter.gauge("cache_bytes", "Bytes the cache holds in memory.", () => cache.size().bytes);
  meter.gauge("cache_entries", "Entries the cache holds in memory.", () => cache.size().entries);
  meter.gauge(
    "cache_evicted",
    "Entries evicted to stay within the bound, since the start.",
    () => cache.size().evicted,
  );
  const machine: Machine = {
    client,
    keys: openKeys(client, catalogue.keyProbes, catalogue.errors, (owner) => cache.dropOwner(owner)),
    errors: catalogue.errors,
    knowledge: { legacyStudies: new Set(legacyStudies) },
    cache,
    meter,
    observer,
    ...(settings.LEGACY_API_KEY === undefined ? {} : { serviceKey: settings.LEGACY_API_KEY }),
    totalTimeout: settings.TOTAL_TIMEOUT_MS,
  };
  const trusted = trustedProxies(settings.TRUSTED_PROXIES);
  const pass = passThrough(passed, {
    host: settings.LEGACY_HOST,
    trusted,
    onAnswer: meter.passedThrough,
    watch(method, target) {
      const write = passingWrite(catalogue.passing, method, target);
      return (
        write && {
          chunk: write.chunk,
          over: (answered) => cache.drop({ groups: write.groups(), ...(answered ? {} : { hold: UNSETTLED }) }),
        }
      );
    },
    onEvent: ({ kind, method, path, error }) =>
      observer.event("pass_through_failed", { kind, method, path, why: error?.message }),
  });
  const front = openFront(machine, settings.CORS_ORIGINS, settings.CACHE_BYTES * FOR_PATHS);
  const backend = JSON.stringify(["legacy", settings.LEGACY_URL, settings.LEGACY_PATH, host, legacyStudies]);
  const endpoints = prepare(catalogue.endpoints, { observer, versions: catalogue.versions, backend, windows });
  const app = gatewayApp(machine, endpoints, {
    prefixes: settings.PREFIXES,
    corsOrigins: settings.CORS_ORIGINS,
    body: { most: settings.MAX_BODY_BYTES, timeout: settings.BODY_TIMEOUT_MS },
    trusted,
    passThrough: pass,
    front,
  });
  return {
    app,
    passThrough: pass,
    front,
    machine,
    windows,
    async close() {
      await Promise.all([transformed.close(), passed.close()]);
      await cache.close();
    },
  };
};
