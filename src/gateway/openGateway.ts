import { EventEmitter } from "node:events";
import { availableParallelism } from "node:os";
import { openCache } from "./cache/cache.ts";
import { longestLifetime } from "./cache/policy.ts";
import { maxEntryBytes, openStore } from "./cache/store.ts";
import { openByteBudget } from "../operation/limits/byteBudget.ts";
import { type LegacyClient, legacyClient } from "./upstream/legacyClient.ts";
import { legacyTargets } from "../catalogue/legacy/legacyTarget.ts";
import { passThrough } from "./proxy/passThrough.ts";
import { openReader, type ReaderSettings } from "./threads/reader.ts";
import { showSegments } from "../operation/secrets/requestTarget.ts";
import type { Settings, WhenOff } from "../operation/settings/settings.ts";
import { readCertificates } from "../operation/settings/certificates.ts";
import { upstreamSettings } from "./upstream/upstreamSettings.ts";
import { openDependencies } from "../operation/telemetry/dependencies.ts";
import { openMeter } from "../operation/telemetry/meter.ts";
import { openStores } from "../operation/store/openStores.ts";
import type { Observer } from "../operation/telemetry/observer.ts";
import { observeCircuit, observeCalls } from "../operation/telemetry/observeUpstream.ts";
import { openTraffic } from "../operation/telemetry/traffic.ts";
import { openBreaker } from "./upstream/breaker.ts";
import { trustedProxies } from "../operation/settings/addresses.ts";
import { openUntrustedProxies } from "./upstream/forwarding.ts";
import { openUpstream, openUpstreamHealth, type UpstreamSettings } from "./upstream/upstream.ts";
import { gatewayApp } from "./answer/app.ts";
import {
  type Core,
  type Feature,
  type FeatureModule,
  hooksOf,
  type ServiceEvents,
  type Services,
} from "./answer/feature.ts";
import { openErrorFormats, openErrorWriter } from "./http/problemDetails.ts";
import { openHitPath } from "./answer/hitPath.ts";
import { openKeys } from "./answer/keys.ts";
import { legacyBackend } from "./answer/legacyBackend.ts";
import { observePassThrough } from "./answer/proxiedWrites.ts";
import { type Catalogue, lifetimesInForce, prepare } from "./answer/prepared.ts";
import { buildInfo } from "../operation/telemetry/buildInfo.ts";
import { openUnconfirmedWrites } from "./answer/unconfirmedWrites.ts";
import { afterAccess } from "./answer/writeAccess.ts";

/** All settings; the legacy server is known, be it the sample. */
export type GatewaySettings = Settings & { LEGACY_URL: string };

/** A gateway that is put together: its interface, the proxy beside it, and its life from start to close. */
export type Gateway = Awaited<ReturnType<typeof openGateway>>;

/** What replaces or adds to the parts of a gateway. */
export type GatewayParts = {
  /** The features that are loaded, in the order of `features/index.ts`. */
  features?: readonly FeatureModule[];
  /** What is said of the features that are not loaded. */
  off?: readonly WhenOff[];
  /** The gateway only checks its configuration (`--check`). */
  isCheck?: boolean;
  /** How large answers are read, where it differs from the default. */
  reading?: Partial<ReaderSettings>;
  /** Requests that may wait for a connection to legacy, and milliseconds in which a client has to take some of an answer, where they differ from the default. */
  waiting?: number;
  sendTimeout?: number;
  /** Wraps the requests to legacy for answers; those that verify keys are not among them. */
  aroundClient?: (client: LegacyClient) => LegacyClient;
  /** Nothing is taken from the cache or stored, and no request waits for the same one of another caller. */
  isUncached?: boolean;
};

/** Milliseconds in which a client has to take some of an answer. A slow one takes some every few seconds, by the buffers of its system. */
const SEND_TIMEOUT = 20_000;
/** The share of the cache's bytes for the cache keys of paths. */
const PATHS_SHARE = 1 / 16;

/** Puts the gateway together; nothing is connected or listens yet. Rejects where a feature cannot be opened, with the setting's name. */
export const openGateway = async (
  settings: GatewaySettings,
  catalogue: Catalogue,
  observer: Observer,
  parts: GatewayParts = {},
) => {
  const { features: modules = [], off = [], isCheck = false, aroundClient = (one) => one } = parts;
  for (const { events } of modules) if (events) observer.define(events);
  const onError = (error: unknown) => observer.event("internal_error", { error: (error as Error).stack });
  const meter = openMeter(
    () => observer.counts(),
    Object.entries(catalogue.endpoints).map(([name, { cache: cached }]) => ({ name, isCached: cached !== undefined })),
  );
  const traffic = openTraffic(meter, Object.keys(catalogue.endpoints));
  meter.gauge("build_info", "Always 1: the version, the build of the code and of Node.", () => [buildInfo()]);
  meter.total("log_lines_dropped_total", "Lines of the log that were dropped because its reader was too slow.", () =>
    observer.droppedLines(),
  );
  const dependencies = openDependencies(meter);
  const isDurable = (settings.REDIS_URL ?? settings.DATA_DIR) !== undefined && !isCheck;
  const reportStore = isDurable
    ? dependencies.add("store", {
        trouble: `${settings.REDIS_URL === undefined ? "DATA_DIR" : "Redis"} has been failing`,
        effect: "nothing is stored, and stages cannot be moved",
      })
    : undefined;
  const stores = await openStores({
    ...settings,
    isCheck,
    onEvent(event, about) {
      observer.event(event, about);
      if (event === "store_up") reportStore?.(true);
      // Its reason may name an address.
      if (event === "store_lost") reportStore?.(false, "it cannot be written: the event store_lost says why");
    },
  });

  const memory = openByteBudget(settings.MEMORY_BYTES);
  meter.gauge(
    "memory_bytes",
    "Bytes of answers and bodies that are collected, wait to be read, or wait to be sent.",
    () => memory.held,
  );
  meter.total("crowded_total", "Answers and bodies refused because of MEMORY_BYTES.", () => memory.refused);
  const health = openUpstreamHealth(
    dependencies.add("legacy", {
      trouble: "Legacy has been failing",
      effect: "what is not cached and needs it is answered 502, 503 or 504",
    }),
  );
  const toLegacy: UpstreamSettings = {
    ...upstreamSettings(settings),
    ...readCertificates("LEGACY_CA", settings.LEGACY_CA),
    origin: settings.LEGACY_URL,
    waiting: parts.waiting,
    memory,
    health,
    onCall: observeCalls(observer, "legacy_asked"),
  };
  // Each its own connections: transforms, downloads that pass through, and uploads do not hold each other up.
  const [transformed, proxied, uploads] = [openUpstream(toLegacy), openUpstream(toLegacy), openUpstream(toLegacy)];
  const upstreams = [transformed, proxied, uploads];

  const breaker = openBreaker((...change) => observeCircuit(observer, "legacy", ...change));
  meter.addBackend({ name: "legacy", circuit: () => breaker.circuit(), certificateExpiry: health.certificateExpiry });
  const host = settings.LEGACY_HOST ?? new URL(settings.LEGACY_URL).host;
  const client = legacyClient(transformed, {
    path: settings.LEGACY_PATH === "/" ? "" : settings.LEGACY_PATH,
    host,
    maxReply: settings.MAX_REPLY_BYTES,
    breaker,
    meter,
  });

  const lifetimes = lifetimesInForce(catalogue.endpoints, settings.CACHE_LIFETIMES);
  const longest = Math.max(...Object.values(lifetimes).map(longestLifetime));
  const openTier = modules.find(({ sharedTier }) => sharedTier)?.sharedTier;
  const cache = openCache({
    store: openStore({
      bytes: Math.floor(settings.CACHE_BYTES * (1 - PATHS_SHARE)),
      entryBytes: maxEntryBytes(settings.CACHE_BYTES),
    }),
    openTier: openTier?.(settings, { meter, observer, dependencies, longest }),
    count: meter.cache,
    onError,
  });
  meter.gauge("cache_bytes", "Bytes the cache holds in memory.", () => cache.size().bytes);
  meter.gauge("cache_entries", "Entries the cache holds in memory.", () => cache.size().entries);
  meter.total("cache_evictions_total", "Entries evicted to stay within the bound.", () => cache.size().evicted);

  const knowledge = { legacyStudies: new Set(settings.LEGACY_STUDIES ?? catalogue.legacyStudies) };
  // Of this legacy, as far as answers differ by it.
  const identity = ["legacy", settings.LEGACY_URL, settings.LEGACY_PATH, host, [...knowledge.legacyStudies]];
  showSegments([
    ...Object.values(catalogue.endpoints).flatMap(({ routes }) => routes),
    ...catalogue.legacyPaths.longWords,
  ]);
  const endpoints = prepare(catalogue.endpoints, { legacy: JSON.stringify(identity), lifetimes });
  const reportReader = dependencies.add("reader_threads", {
    trouble: "Reading large answers has been failing",
    effect: "their callers are answered 502 or 504",
  });
  const reader = openReader({
    endpoints: new Map(endpoints.map((endpoint) => [endpoint.name, endpoint])),
    knowledge,
    module: catalogue.module,
    threads: Math.min(settings.READER_THREADS, availableParallelism()),
    maxReply: settings.MAX_REPLY_BYTES,
    memory,
    onFailed(why, endpoint) {
      reportReader(false, "the last large answer was not read");
      observer.event("large_answer_failed", { endpoint, why });
    },
    onRead: () => reportReader(true),
    ...parts.reading,
  });
  meter.gauge("reader_threads", "Threads that read large answers.", () => reader.size().threads);
  meter.gauge("reader_waiting", "Large answers and bodies that wait for a thread.", () => reader.size().waiting);
  meter.gauge("reader_waiting_bytes", "Bytes of these, and of those that threads read now.", () => reader.size().bytes);

  const features: Feature[] = [];
  const hooks = hooksOf(features);
  const events = new EventEmitter<ServiceEvents>();
  events.on("keyRefused", cache.invalidateLocally);
  const keys = openKeys(client, catalogue.keyProbes, catalogue.errors, (owner) => events.emit("keyRefused", owner));
  const unconfirmed = openUnconfirmedWrites({ keys, timeout: settings.TOTAL_TIMEOUT_MS, onError });
  const services: Services = {
    client: aroundClient(client),
    keys,
    unconfirmed,
    errors: catalogue.errors,
    knowledge,
    reader,
    cache,
    memory,
    meter,
    traffic,
    dependencies,
    observer,
    hooks,
    events,
    ...(settings.LEGACY_API_KEY === undefined ? {} : { serviceKey: settings.LEGACY_API_KEY }),
    totalTimeout: settings.TOTAL_TIMEOUT_MS,
  };

  const trusted = trustedProxies(settings.TRUSTED_PROXIES);
  const untrustedProxies = openUntrustedProxies(trusted, (address) => {
    observer.event("untrusted_proxy", { address, advice: `if it is your proxy, set TRUSTED_PROXIES=${address}` });
  });
  const errorFormats = openErrorFormats(settings.PREFIXES);
  let isStopping = false;
  const core: Core = {
    settings,
    catalogue,
    services,
    stores,
    endpoints,
    lifetimes,
    features,
    clientLimits: {
      sendTimeout: parts.sendTimeout ?? SEND_TIMEOUT,
      memory,
      maxConnections: settings.MAX_CLIENT_CONNECTIONS,
    },
    errorFormats,
    writeError: openErrorWriter(settings.PREFIXES, errorFormats),
    load: () =>
      Math.max(...upstreams.map(({ semaphore: { waiting, running } }) => waiting + running)) / settings.MAX_CONNECTIONS,
    isStopping: () => isStopping,
    trusted,
    untrustedProxies,
    off,
    isCheck,
  };
  const close = async (): Promise<void> => {
    unconfirmed.close();
    traffic.close();
    // What was opened last may use what was opened before it.
    for (const feature of features.toReversed()) await feature.close?.();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
    await reader.close();
    await cache.close();
    await stores.close();
  };
  try {
    for (const { open } of modules) if (open) features.push(await open(core, settings));
  } catch (error) {
    await close();
    throw error;
  }

  // Where a request may be answered; server.ts has the order, with the middleware and documents of features.
  const legacy = legacyBackend(services, parts.isUncached);
  const layered = features.reduce((next, { layer }) => layer?.(next) ?? next, legacy);
  const backend = afterAccess(services, layered);
  const readTarget = legacyTargets(settings.LEGACY_PATH, catalogue.legacyPaths);
  const pass = passThrough(proxied, uploads, {
    host: settings.LEGACY_HOST,
    meter,
    observer,
    trusted,
    observe: observePassThrough(services, features, catalogue.legacyWrites, readTarget),
    headers: features.flatMap(({ proxy }) => proxy?.headers ?? []),
    standIns: features.flatMap(({ proxy }) => proxy?.standIn ?? []),
  });
  const hitPath = openHitPath(core, settings.CACHE_BYTES * PATHS_SHARE);
  const app = gatewayApp({ ...core, backend, passThrough: pass, hitPath });
  return {
    app,
    passThrough: pass,
    hitPath,
    services,
    core,
    /** Requests that come from now on are answered, and their connections closed; `/readyz` says so. */
    beginStop: () => void (isStopping = true),
    /** Begins what the features do in the background; the results are parts of the lines that the start prints. Rejects with what stops the start. */
    async start(address: string) {
      const started: { listensOn?: string; line?: string }[] = [];
      for (const feature of features) if (feature.start) started.push(await feature.start(address));
      return started;
    },
    /** Puts changed settings in force, all at once; what is wrong with them, and then nothing has changed. */
    reload: async (next: Settings): Promise<string[]> => {
      const changes = features.flatMap(({ reload }) => reload?.(next) ?? []);
      const errors = changes.flatMap((change) => ("errors" in change ? change.errors : []));
      if (errors.length === 0) for (const change of changes) if (typeof change === "function") await change();
      return errors;
    },
    /** Waits for what legacy still answers, then closes the connections to it. */
    close,
  };
};
