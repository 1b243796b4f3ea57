import { EventEmitter } from "node:events";
import { availableParallelism } from "node:os";
import { type Cache, openCache } from "../cache/cache.ts";
import type { DeclaredLifetimes } from "../cache/entry.ts";
import { longestLifetime, withDefaults } from "../cache/policy.ts";
import { maxEntryBytes, openStore } from "../cache/store.ts";
import { type ByteBudget, openByteBudget } from "../concurrency/byteBudget.ts";
import type { Knowledge } from "../endpoint/endpoint.ts";
import { type LegacyClient, legacyClient } from "../legacy/client.ts";
import { legacyTargets } from "../legacy/legacyTarget.ts";
import { type PassThrough, type PassThroughEvent, passThrough } from "../proxy/passThrough.ts";
import { openPassThroughMeter } from "../proxy/passThroughMeter.ts";
import { readableOf } from "../reading/readAnswer.ts";
import { LARGE, openReader, type Reader, type ReaderSettings } from "../reading/reader.ts";
import type { Settings, WhenOff } from "../settings/settings.ts";
import { readCertificates } from "../settings/certificates.ts";
import { upstreamSettings } from "../settings/upstreamSettings.ts";
import { type Dependencies, openDependencies } from "../telemetry/dependencies.ts";
import { type Meter, openMeter } from "../telemetry/meter.ts";
import { openStores } from "../store/openStores.ts";
import type { Stores } from "../store/store.ts";
import type { EventLevel } from "../telemetry/events.ts";
import type { Observer } from "../telemetry/observer.ts";
import { observeCircuit, observeCalls } from "../telemetry/observeUpstream.ts";
import { openBreaker } from "../upstream/breaker.ts";
import { trustedProxies } from "../upstream/forwarding.ts";
import { openUpstreamHealth, type UpstreamHealth } from "../upstream/health.ts";
import { openUntrustedProxies, type UntrustedProxies } from "../upstream/untrustedProxies.ts";
import { openUpstream, type Upstream } from "../upstream/upstream.ts";
import { type App, gatewayApp } from "./app.ts";
import type { Backend } from "./backend.ts";
import type { Catalogue } from "./catalogue.ts";
import { type Core, type Feature, type FeatureModule, hooksOf, type ServiceEvents, type Services } from "./feature.ts";
import { openErrorFormats, openErrorWriter, type WriteError } from "../http/problemDetails.ts";
import { type HitPath, openHitPath } from "./hitPath.ts";
import { openKeys } from "./keys.ts";
import { legacyBackend } from "./legacyBackend.ts";
import { observePassThrough } from "./observePassThrough.ts";
import { prepare } from "./prepared.ts";
import { buildInfo } from "../telemetry/buildInfo.ts";
import type { Sample } from "../telemetry/series.ts";
import { openUnconfirmedWrites } from "./unconfirmedWrites.ts";

/** All settings; the legacy server is known, be it the sample. */
export type GatewaySettings = Settings & { LEGACY_URL: string };

/** A gateway that is put together: its interface, the proxy beside it, and its life from start to close. */
export type Gateway = {
  app: App;
  passThrough: PassThrough;
  hitPath: HitPath;
  untrustedProxies: UntrustedProxies;
  services: Services;
  core: Core;
  /** Requests that come from now on are answered, and their connections closed; `/readyz` says so. */
  beginStop: () => void;
  /** Begins what the features do in the background; the results are parts of the lines that the start prints. Rejects with what stops the start. */
  start(address: string): Promise<{ listensOn?: string; line?: string }[]>;
  /** Puts changed settings in force, all at once; what is wrong with them, and then nothing has changed. */
  reload: (settings: Settings) => Promise<string[]>;
  /** Waits for what legacy still answers, then closes the connections to it. */
  close: () => Promise<void>;
};

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
const MIB = 1024 ** 2;
/** The share of the cache's bytes for the cache keys of paths. */
const PATHS_SHARE = 1 / 16;
/** Large answers and bodies that may wait or be read at a time, beside the bound on their bytes. */
const MAX_READING = 500;
/** Bytes of heap for a thread: so many for each byte of the largest answer, and no fewer. */
const HEAP_PER_BYTE = 16;
const MIN_HEAP = 512 * MIB;
/** Milliseconds without a large answer after which a thread ends, and gives its memory back. */
const IDLE_THREAD = 60_000;
/** Milliseconds after a request's deadline until a thread that still reads for it is ended. */
const READER_OVERTIME = 30_000;

/** Puts the gateway together; nothing is connected or listens yet. Rejects where a feature cannot be opened, with the setting's name. */
export const openGateway = async (
  settings: GatewaySettings,
  catalogue: Catalogue,
  observer: Observer,
  parts: GatewayParts = {},
): Promise<Gateway> => {
  const { features: modules = [], isUncached } = parts;
  for (const { events } of modules) if (events) observer.define(events);
  const memory = openByteBudget(settings.MEMORY_BYTES);
  // Each its own connections: transforms, downloads that pass through, and uploads do not hold each other up.
  const dependencies = openDependencies();
  const stores = await openStoresOf(settings, parts.isCheck, { observer, dependencies });
  const health = openUpstreamHealth(dependencies.add("legacy"));
  const [transformed, proxied, uploads] = [1, 2, 3].map(() =>
    upstreamOf(settings, { memory, health, observer, waiting: parts.waiting }),
  ) as [Upstream, Upstream, Upstream];
  const upstreams = [transformed, proxied, uploads];
  const features: Feature[] = [];
  const services = openServices(settings, catalogue, observer, {
    ...parts,
    upstream: transformed,
    health,
    dependencies,
    features,
    modules,
  });
  meterDependencies(services);
  const trusted = trustedProxies(settings.TRUSTED_PROXIES);
  const untrustedProxies = openUntrustedProxies(trusted, (address) => {
    observer.event("untrusted_proxy", { address, advice: `if it is your proxy, set TRUSTED_PROXIES=${address}` });
  });
  const lifecycle = { isStopping: false };
  const errorFormats = openErrorFormats(settings.PREFIXES);
  const writeError = openErrorWriter(settings.PREFIXES, errorFormats);
  const core = coreOf(settings, catalogue, services, {
    ...parts,
    writeError,
    stores,
    features,
    memory,
    upstreams,
    lifecycle,
    untrustedProxies,
  });
  const close = async (): Promise<void> => {
    services.unconfirmed.close();
    // What was opened last may use what was opened before it.
    for (const feature of features.toReversed()) await feature.close?.();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
    await services.reader.close();
    await services.cache.close();
    await stores.close();
  };
  try {
    for (const { open } of modules) if (open) features.push(await open(core, settings));
  } catch (error) {
    await close();
    throw error;
  }

  const legacy = legacyBackend(services);
  const backend = features.reduce<Backend>(
    (next, { layer }) => layer?.(next) ?? next,
    isUncached ? (request, caller) => legacy({ ...request, bypass: true }, caller) : legacy,
  );
  const pass = openProxy(settings, catalogue, services, { proxied, uploads, features, trusted });
  const written = { corsOrigins: settings.CORS_ORIGINS, errorFormats };
  const hitPath = openHitPath(services, features, written, settings.CACHE_BYTES * PATHS_SHARE);
  meterMemory(services, memory);
  const app = gatewayApp(services, backend, core.endpoints, {
    prefixes: settings.PREFIXES,
    ...written,
    writeError,
    documents: features.flatMap(({ documents }) => documents ?? []),
    body: { most: settings.MAX_BODY_BYTES, timeout: settings.BODY_TIMEOUT_MS, budget: memory },
    trusted,
    passThrough: pass,
    hitPath,
  });
  return {
    app,
    passThrough: pass,
    hitPath,
    untrustedProxies,
    services,
    core,
    beginStop: () => void (lifecycle.isStopping = true),
    async start(address) {
      const started: Awaited<ReturnType<Gateway["start"]>> = [];
      for (const feature of features) if (feature.start) started.push(await feature.start(address));
      return started;
    },
    async reload(next) {
      const changes = features.flatMap(({ reload }) => reload?.(next) ?? []);
      const errors = changes.flatMap((change) => ("errors" in change ? change.errors : []));
      if (errors.length === 0) for (const change of changes) if (typeof change === "function") await change();
      return errors;
    },
    close,
  };
};

/** Registers what runs, and whether its dependencies work. */
const meterDependencies = ({ meter, dependencies }: Services): void => {
  let info: Sample | undefined;
  meter.gauge("build_info", "Always 1: the version, the build of the code and of Node.", () => [
    (info ??= buildInfo()),
  ]);
  meter.gauge("dependency_up", "Whether a dependency works, as it was seen last: 1 or 0.", () =>
    dependencies.states().map(({ name, state }) => ({ labels: { dependency: name }, value: state === "ok" ? 1 : 0 })),
  );
};

/** Opens the stores. With Redis or `DATA_DIR` they are a dependency. */
const openStoresOf = (
  settings: GatewaySettings,
  isCheck = false,
  { observer, dependencies }: Pick<Services, "observer" | "dependencies">,
): Promise<Stores> => {
  const isDurable = (settings.REDIS_URL ?? settings.DATA_DIR) !== undefined && !isCheck;
  const report = isDurable ? dependencies.add("store") : undefined;
  return openStores({
    ...settings,
    isCheck,
    onEvent(event, about) {
      observer.event(event, about);
      if (event === "store_up") report?.(true);
      // Its reason may name an address.
      if (event === "store_lost") report?.(false, "it cannot be written: the event store_lost says why");
    },
  });
};

type ServiceParts = Pick<GatewayParts, "reading" | "aroundClient"> & {
  upstream: Upstream;
  health: UpstreamHealth;
  dependencies: Dependencies;
  features: readonly Feature[];
  modules: readonly FeatureModule[];
};

const openServices = (
  settings: GatewaySettings,
  catalogue: Catalogue,
  observer: Observer,
  { reading = {}, aroundClient = (one) => one, upstream, health, dependencies, features, modules }: ServiceParts,
): Services => {
  const meter = openMeter(() => observer.counts(), meteredEndpoints(catalogue));
  const breaker = openBreaker((...change) => observeCircuit(observer, "legacy", ...change));
  const { certificateExpiry } = health;
  meter.addBackend({ name: "legacy", circuit: () => breaker.circuit(), certificateExpiry });
  const client = legacyClient(upstream, {
    path: settings.LEGACY_PATH === "/" ? "" : settings.LEGACY_PATH,
    host: legacyHost(settings),
    maxReply: settings.MAX_REPLY_BYTES,
    breaker,
    onCall: (...call) => meter.countCall("legacy", ...call),
  });
  const hooks = hooksOf(features);
  const cache = openCacheOf(settings, catalogue, { meter, observer, dependencies, modules });
  const events = new EventEmitter<ServiceEvents>();
  events.on("keyRefused", cache.invalidateLocally);
  const keys = openKeys(
    client,
    catalogue.keyProbes,
    catalogue.errors,
    (owner) => void events.emit("keyRefused", owner),
  );
  const onError = (error: unknown) => observer.event("internal_error", { error: (error as Error).stack });
  const knowledge = { legacyStudies: new Set(settings.LEGACY_STUDIES ?? catalogue.legacyStudies) };
  const reader = openReaderOf(settings, catalogue, knowledge, { meter, observer, dependencies, reading });
  return {
    client: aroundClient(client),
    keys,
    unconfirmed: openUnconfirmedWrites({ keys, timeout: settings.TOTAL_TIMEOUT_MS, onError }),
    errors: catalogue.errors,
    knowledge,
    reader,
    cache,
    meter,
    dependencies,
    observer,
    hooks,
    events,
    ...(settings.LEGACY_API_KEY === undefined ? {} : { serviceKey: settings.LEGACY_API_KEY }),
    totalTimeout: settings.TOTAL_TIMEOUT_MS,
  };
};

type CoreParts = Pick<GatewayParts, "off" | "isCheck" | "sendTimeout"> & {
  stores: Stores;
  features: readonly Feature[];
  memory: ByteBudget;
  upstreams: readonly Upstream[];
  lifecycle: { isStopping: boolean };
  writeError: WriteError;
  untrustedProxies: UntrustedProxies;
};

const coreOf = (
  settings: GatewaySettings,
  catalogue: Catalogue,
  services: Services,
  {
    off = [],
    isCheck = false,
    sendTimeout = SEND_TIMEOUT,
    stores,
    features,
    memory,
    upstreams,
    lifecycle,
    writeError,
    untrustedProxies,
  }: CoreParts,
): Core => {
  const lifetimes = lifetimesInForce(settings, catalogue);
  const { LEGACY_URL: url, LEGACY_PATH: path } = settings;
  const studies = [...services.knowledge.legacyStudies];
  const legacy = JSON.stringify(["legacy", url, path, legacyHost(settings), studies]);
  return {
    settings,
    catalogue,
    services,
    stores,
    endpoints: prepare(catalogue.endpoints, { legacy, lifetimes }),
    lifetimes,
    features,
    memory,
    clientLimits: {
      sendTimeout,
      memory,
      maxConnections: settings.MAX_CLIENT_CONNECTIONS,
    },
    writeError,
    load: () =>
      Math.max(...upstreams.map(({ semaphore: { waiting, running } }) => waiting + running)) / settings.MAX_CONNECTIONS,
    isStopping: () => lifecycle.isStopping,
    untrustedProxies: () => untrustedProxies.list(),
    off,
    isCheck,
  };
};

const openProxy = (
  settings: GatewaySettings,
  catalogue: Catalogue,
  { cache, unconfirmed, hooks, meter, observer }: Services,
  {
    proxied,
    uploads,
    features,
    trusted,
  }: { proxied: Upstream; uploads: Upstream; features: readonly Feature[]; trusted: (address: string) => boolean },
): PassThrough => {
  const headers = features.flatMap(({ proxy }) => proxy?.headers ?? []);
  return passThrough(proxied, uploads, {
    host: settings.LEGACY_HOST,
    meter: openPassThroughMeter(meter),
    trusted,
    observe: observePassThrough({
      passing: catalogue.passing,
      readTarget: legacyTargets(settings.LEGACY_PATH, catalogue.legacyPaths),
      cache,
      unconfirmed,
      hooks,
      features,
    }),
    hooks: {
      headers: (target) => headers.flatMap((of) => of(target) ?? []),
      standIn: (...request) => features.some(({ proxy }) => proxy?.standIn?.(...request)),
    },
    onEvent: ({ kind, method, path, error }) =>
      observer.event("pass_through_failed", { kind, method, path, why: error?.message, level: levelOf(kind) }),
  });
};

/** What a client causes is no fault of legacy's; what the gateway refuses for want of room is one of ours. */
const levelOf = (kind: PassThroughEvent["kind"]): EventLevel => {
  if (kind === "aborted") return "info";
  if (kind === "loop" || kind === "badRequest" || kind === "slowClient") return "debug";
  return kind === "overloaded" || kind === "crowded" || kind === "tooLarge" ? "warn" : "error";
};

const legacyHost = ({ LEGACY_HOST, LEGACY_URL }: GatewaySettings): string => LEGACY_HOST ?? new URL(LEGACY_URL).host;

const upstreamOf = (
  settings: GatewaySettings,
  parts: { memory: ByteBudget; health: UpstreamHealth; observer: Observer; waiting?: number | undefined },
): Upstream =>
  openUpstream({
    ...upstreamSettings(settings),
    ...readCertificates("LEGACY_CA", settings.LEGACY_CA),
    origin: settings.LEGACY_URL,
    ...parts,
    onCall: observeCalls(parts.observer, "legacy_asked"),
  });

const meteredEndpoints = ({ endpoints }: Catalogue) =>
  Object.entries(endpoints).map(([name, { cache }]) => ({ name, isCached: cache !== undefined }));

const meterMemory = ({ meter, observer }: Services, memory: ByteBudget): void => {
  meter.total("log_lines_dropped_total", "Lines of the log that were dropped because its reader was too slow.", () =>
    observer.droppedLines(),
  );
  meter.gauge("memory_bytes", "Bytes of answers and bodies that are collected or wait to be sent.", () => memory.held);
  meter.total("crowded_total", "Answers and bodies refused because of MEMORY_BYTES.", () => memory.refused);
};

const lifetimesInForce = (
  { CACHE_LIFETIMES: changed }: GatewaySettings,
  { endpoints }: Catalogue,
): Record<string, DeclaredLifetimes> =>
  Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, { cache }]) =>
      cache === undefined ? [] : [[name, withDefaults({ ...cache, ...changed[name] })]],
    ),
  );

type CacheParts = {
  meter: Meter;
  observer: Observer;
  dependencies: Dependencies;
  modules: readonly FeatureModule[];
};

const openCacheOf = (settings: GatewaySettings, catalogue: Catalogue, { modules, ...parts }: CacheParts): Cache => {
  const { meter, observer } = parts;
  const lifetimes = lifetimesInForce(settings, catalogue);
  const store = openStore({
    bytes: Math.floor(settings.CACHE_BYTES * (1 - PATHS_SHARE)),
    entryBytes: maxEntryBytes(settings.CACHE_BYTES),
  });
  const longest = Math.max(...Object.values(lifetimes).map(longestLifetime));
  const cache = openCache({
    store,
    openTier: modules.find(({ sharedTier }) => sharedTier)?.sharedTier?.(settings, { ...parts, longest }),
    count: meter.cache,
    onError: (error) => observer.event("internal_error", { error: (error as Error).stack }),
  });
  meter.gauge("cache_bytes", "Bytes the cache holds in memory.", () => cache.size().bytes);
  meter.gauge("cache_entries", "Entries the cache holds in memory.", () => cache.size().entries);
  meter.total("cache_evictions_total", "Entries evicted to stay within the bound.", () => cache.size().evicted);
  return cache;
};

type ReaderParts = {
  meter: Meter;
  observer: Observer;
  dependencies: Dependencies;
  reading: NonNullable<GatewayParts["reading"]>;
};

const openReaderOf = (
  settings: GatewaySettings,
  { endpoints, module }: Catalogue,
  knowledge: Knowledge,
  { meter, observer, dependencies, reading }: ReaderParts,
): Reader => {
  const report = dependencies.add("reader_threads");
  const reader = openReader({
    endpoints: new Map(Object.entries(endpoints).map(([name, endpoint]) => [name, readableOf(name, endpoint)])),
    knowledge,
    module,
    large: LARGE,
    threads: Math.min(settings.READER_THREADS, availableParallelism()),
    heap: Math.max(MIN_HEAP, HEAP_PER_BYTE * settings.MAX_REPLY_BYTES) / MIB,
    idle: IDLE_THREAD,
    jobs: MAX_READING,
    bytes: Math.max(settings.MEMORY_BYTES, settings.MAX_BODY_BYTES),
    overtime: READER_OVERTIME,
    onFailed(why, endpoint) {
      report(false, "the last large answer was not read");
      observer.event("large_answer_failed", { endpoint, why });
    },
    onRead: () => report(true),
    ...reading,
  });
  meter.gauge("reader_threads", "Threads that read large answers.", () => reader.size().threads);
  meter.gauge("reader_waiting", "Large answers and bodies that wait for a thread.", () => reader.size().waiting);
  meter.gauge("reader_waiting_bytes", "Bytes of these, and of those that threads read now.", () => reader.size().bytes);
  return reader;
};
