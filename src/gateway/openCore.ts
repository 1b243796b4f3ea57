import { EventEmitter } from "node:events";
import { availableParallelism } from "node:os";
import { legacyTargets, type ReadLegacyTarget } from "../catalogue/index.ts";
import {
  buildInfo,
  type Dependencies,
  monotonic,
  type Observer,
  openByteBudget,
  openDependencies,
  openMeter,
  openTraffic,
  type Settings,
  showSegments,
  trustedProxies,
} from "../operation/index.ts";
import { openAuthorize } from "./answer/authorize.ts";
import type { Core, CoreEvents, WholeCore } from "./answer/core.ts";
import { openEmptyLists } from "./answer/emptyLists.ts";
import { openKeys } from "./answer/keys.ts";
import { openFetchAnswer, openFetchReadable } from "./answer/legacyFetch.ts";
import { type Catalogue, lifetimesInForce, prepare } from "./answer/prepared.ts";
import { openUnconfirmedWrites } from "./answer/unconfirmedWrites.ts";
import { type OnWrite, openWrites } from "./answer/writes.ts";
import { Cache } from "./cache/cache.ts";
import { longestLifetime } from "./cache/policy.ts";
import type { OpenSecondTier } from "./cache/secondTier.ts";
import { maxEntryBytes, openStore } from "./cache/store.ts";
import { openGuard } from "./http/guard.ts";
import { openOwnErrors } from "./http/ownErrors.ts";
import { openErrorFormats } from "./http/problemDetails.ts";
import { openReader, type ReaderSettings } from "./threads/reader.ts";
import { openUntrustedProxies } from "./upstream/forwarding.ts";
import { openLoops } from "./upstream/loops.ts";
import { type LegacyClient, legacyClient, pathFetcher } from "./upstream/legacyClient.ts";
import { legacyJudge } from "./upstream/legacyJudge.ts";
import { legacyParts } from "./upstream/legacyParts.ts";
import { openLegacyOutage } from "./upstream/legacyOutage.ts";
import { openBackend } from "./upstream/openBackend.ts";
import { observeCalls } from "./upstream/upstream.ts";
import { answerTimeout, collectTimeout, sharedTimeout, upstreamSettings } from "./upstream/upstreamSettings.ts";

/**
 * The cache's second tier is opened with this, before there is a core for features. `longest`: milliseconds that any
 * entry is stored.
 */
export type TierOptions = Pick<Core, "observer" | "meter" | "dependencies" | "isCheck"> & {
  longest: number;
  /** Called if the tier has entries of an earlier run: whether legacy fails is then found out at once. */
  onRestored: () => void;
};

/** Parts of the core that are replaced or added. */
export type CoreParts = {
  /** Opens the cache's second tier. */
  openTier?: ((options: TierOptions) => OpenSecondTier | undefined) | undefined;
  isCheck?: boolean;
  /** The settings for reading large answers that differ from the defaults. */
  reading?: Partial<ReaderSettings>;
  /**
   * Where they differ from the default: requests that may wait for a connection to legacy. Milliseconds in which a
   * client has to take some of an answer. Milliseconds in which an answer has to begin.
   */
  waiting?: number;
  sendTimeout?: number;
  answerTimeout?: number;
  /** Wraps the requests to legacy for answers; those that verify keys are not among them. */
  aroundClient?: (client: LegacyClient) => LegacyClient;
};

/** The core, with the parts of it that the interface and the end of the process use. */
export type OpenedCore = ReturnType<typeof openCore>;

/**
 * Opens the core, which knows no feature; nothing is connected or listens yet. `legacyOnlyChecksKeys` is asked while
 * the gateway serves.
 */
export const openCore = (
  settings: Settings,
  catalogue: Catalogue,
  observer: Observer,
  legacyOnlyChecksKeys: () => boolean,
  parts: CoreParts,
) => {
  const routes = Object.values(catalogue.endpoints).flatMap((endpoint) => endpoint.routes);
  // For every log line of this process: words of these paths are no keys, however long they are.
  showSegments([...routes, ...catalogue.legacyPaths.longWords]);
  const operation = openOperation(settings, catalogue, observer);
  const readTarget = legacyTargets(settings.LEGACY_PATH, catalogue.legacyPaths);
  const legacy = openLegacy(settings, catalogue, readTarget, operation, { ...parts, legacyOnlyChecksKeys });
  // Identifies this legacy, as far as answers differ by it.
  const identity = JSON.stringify(["legacy", settings.LEGACY_URL, settings.LEGACY_PATH, hostOf(settings)]);
  const lifetimes = lifetimesInForce(catalogue.endpoints, settings.CACHE_LIFETIMES);
  const endpoints = prepare(catalogue.endpoints, { legacy: identity, lifetimes });
  const defined = { endpoints, lifetimes, errors: catalogue.errors };
  const answering = openAnswering(settings, catalogue, { ...operation, ...defined, legacy }, parts);
  const core: WholeCore = {
    settings,
    catalogue,
    ...defined,
    ...operation,
    ...answering,
    fetchPath: legacy.fetchPath,
    outage: legacy.outage,
    load: legacy.load,
    legacyTroubles: legacy.outage.troubles,
    keysAlone: legacy.outage.keysAlone,
    ...openDoor(settings, catalogue, readTarget, operation, parts),
    provedReads: new Set(),
    isCheck: parts.isCheck ?? false,
  };
  return { core, identity, legacy };
};

type Operation = ReturnType<typeof openOperation>;

/** Opens the parts that run the gateway: its metrics, the list of its dependencies, its memory. */
const openOperation = (settings: Settings, { endpoints }: Catalogue, observer: Observer) => {
  const meter = openMeter(
    () => observer.counts(),
    Object.entries(endpoints).map(([name, { cache }]) => ({ name, isCached: cache !== undefined })),
  );
  meter.gauge("build_info", "Always 1: the version, the build of the code and of Node.", () => [buildInfo()]);
  meter.total("log_lines_dropped_total", "Lines of the log that were dropped because its reader was too slow.", () =>
    observer.droppedLines(),
  );
  const dependencies = openDependencies(meter);
  const memory = openByteBudget(settings.MEMORY_BYTES);
  meter.gauge(
    "memory_bytes",
    "Bytes of answers and bodies that are collected, wait to be read, or wait to be sent.",
    () => memory.held,
  );
  meter.total("crowded_total", "Answers and bodies refused because of MEMORY_BYTES.", () => memory.refused);
  const traffic = openTraffic(meter, Object.keys(endpoints));
  return { observer, meter, traffic, dependencies, events: new EventEmitter<CoreEvents>(), memory };
};

/** Legacy: the connections to it, and the client that asks it for answers. */
const openLegacy = (
  settings: Settings,
  catalogue: Catalogue,
  readTarget: ReadLegacyTarget,
  operation: Operation,
  { waiting, legacyOnlyChecksKeys }: CoreParts & { legacyOnlyChecksKeys: () => boolean },
) => {
  const path = settings.LEGACY_PATH === "/" ? "" : settings.LEGACY_PATH;
  const host = hostOf(settings);
  const server = { origin: settings.LEGACY_URL, ca: settings.LEGACY_CA };
  const judge = legacyJudge(readTarget);
  const partOf = legacyParts(catalogue, readTarget);
  const outage = openLegacyOutage(
    {
      upstream: {
        ...upstreamSettings(settings),
        ...server,
        memory: operation.memory,
        judge,
        onCall: observeCalls(operation.observer, "legacy_asked"),
      },
      path: `${path}/json${catalogue.keyProbes.reads.path}`,
      host,
      isJudged: (target) => readTarget(target) !== undefined,
      partOf,
    },
    operation,
    legacyOnlyChecksKeys,
  );
  const backend = openBackend(
    {
      name: "legacy",
      ...server,
      // The answers that transforms read, and proxied traffic: downloads and uploads.
      pools: ["answers", "downloads", "uploads"],
      waiting,
      health: outage,
      judge,
      parts: {
        partOf,
        onRefused: (endpoint) => operation.observer.event("legacy_part_hangs", { endpoint }),
      },
    },
    settings,
    operation,
  );
  const { pools } = backend;
  const settingsOfClient = {
    path,
    host,
    maxReply: settings.MAX_REPLY_BYTES,
    collectTimeout: collectTimeout(settings),
  };
  const client = legacyClient(backend, pools.answers, settingsOfClient);
  const fetchPath = pathFetcher(backend, pools.downloads, settingsOfClient);
  const close = async (): Promise<void> => {
    await outage.close();
    await backend.close();
  };
  return { client, fetchPath, pools, outage, load: backend.load, close };
};

const hostOf = ({ LEGACY_HOST, LEGACY_URL }: Settings): string => LEGACY_HOST ?? new URL(LEGACY_URL).host;

/** Most threads that read large answers, where there are as many cores. */
const READER_THREADS = 2;

/** The share of the cache's bytes for the knowledge of paths. */
export const PATHS_SHARE = 1 / 16;

/** Opens the parts that make answers: the reader of legacy's answers, the cache of ours, the keys of callers. */
const openAnswering = (
  settings: Settings,
  { keyProbes, module, opaqueReads }: Catalogue,
  opened: Operation & Pick<Core, "endpoints" | "lifetimes" | "errors"> & { legacy: ReturnType<typeof openLegacy> },
  { openTier, isCheck = false, reading, aroundClient = (client) => client }: CoreParts,
) => {
  const { observer, meter, dependencies, memory, events, endpoints, lifetimes, errors, legacy } = opened;
  const onError = observer.fault;
  const timeout = settings.TOTAL_TIMEOUT_MS;

  const stored = [...Object.values(lifetimes), ...opaqueReads.map((read) => read.lifetimes)];
  const longest = Math.max(...stored.map(longestLifetime));
  const cache = new Cache({
    store: openStore({
      bytes: Math.floor(settings.CACHE_BYTES * (1 - PATHS_SHARE)),
      entryBytes: maxEntryBytes(settings.CACHE_BYTES),
    }),
    openTier: openTier?.({ meter, observer, dependencies, longest, isCheck, onRestored: () => legacy.outage.probe() }),
    timeout: sharedTimeout(settings),
    count: meter.cache,
    isFailing: () => legacy.outage.isOn(),
    onError,
    now: monotonic.now,
  });
  meter.gauge("cache_bytes", "Bytes the cache holds in memory.", () => cache.size().bytes);
  meter.gauge("cache_entries", "Entries the cache holds in memory.", () => cache.size().entries);
  meter.total("cache_evictions_total", "Entries evicted to stay within the bound.", () => cache.size().evicted);

  const reportReader = dependencies.add("reader_threads", {
    trouble: "Reading large answers has been failing",
    effect: "their callers are answered 502 or 504",
  });
  const reader = openReader({
    endpoints: new Map(endpoints.map((endpoint) => [endpoint.name, endpoint])),
    module,
    threads: Math.min(READER_THREADS, availableParallelism()),
    maxReply: settings.MAX_REPLY_BYTES,
    memory,
    onFailed(why, endpoint) {
      reportReader(false, "the last large answer was not read");
      observer.event("large_answer_failed", { endpoint, why });
    },
    onRead: () => reportReader(true),
    ...reading,
  });
  meter.gauge("reader_threads", "Threads that read large answers.", () => reader.size().threads);
  meter.gauge("reader_waiting", "Large answers and bodies that wait for a thread.", () => reader.size().waiting);
  meter.gauge("reader_waiting_bytes", "Bytes of these, and of those that threads read now.", () => reader.size().bytes);

  // The entries of an owner are in a group that is named after it.
  events.on("keyRefused", (owner) => cache.invalidateLocally(owner));
  legacy.outage.onChange(({ is }) => is !== "failing" && cache.endPauses());
  const keys = openKeys({
    client: legacy.client,
    probes: keyProbes,
    errors,
    timeout: sharedTimeout(settings),
    onRefused: (owner) => events.emit("keyRefused", owner),
  });
  const unconfirmed = openUnconfirmedWrites({ keys, timeout, legacyBack: () => legacy.outage.ended(), onError });
  const client = aroundClient(legacy.client);
  const serviceKey = openServiceKey(settings.LEGACY_API_KEY, dependencies);
  const fetching = { ...opened, client, reader, keys, serviceKey };
  return {
    client,
    reader,
    cache,
    fetchAnswer: openFetchAnswer(fetching),
    fetchReadable: openFetchReadable(fetching),
    authorize: openAuthorize({ keys, totalTimeout: timeout }),
    openWrites: (observers: readonly OnWrite[]) => openWrites({ cache, unconfirmed }, observers),
    judgeEmpty: openEmptyLists(client, observer),
    keys,
    unconfirmed,
    serviceKey,
    totalTimeout: timeout,
  };
};

const openServiceKey = (key: string | undefined, dependencies: Pick<Dependencies, "add">): WholeCore["serviceKey"] => {
  if (key === undefined) return undefined;
  const report = dependencies.add("legacy_api_key", {
    trouble: "Legacy has been refusing LEGACY_API_KEY",
    effect: "what legacy answers only with a key is answered 401 to callers without one",
  });
  return { key, report: (isAccepted) => report(isAccepted, isAccepted ? undefined : "set a key that may write") };
};

/**
 * Milliseconds in which a client has to take some of an answer. A slow one takes some every few seconds, by
 * the buffers of its system.
 */
const SEND_TIMEOUT = 20_000;

/** Opens the parts that treat clients before their requests are read: bounds, proxies, the form of errors. */
const openDoor = (
  settings: Settings,
  { legacyPaths, legacyWrites }: Catalogue,
  readTarget: ReadLegacyTarget,
  { memory, observer, dependencies }: Operation,
  { sendTimeout = SEND_TIMEOUT, answerTimeout: longest = answerTimeout(settings) }: CoreParts,
) => {
  const trusted = trustedProxies(settings.TRUSTED_PROXIES);
  const errorFormats = openErrorFormats(settings.PREFIXES);
  const ownErrors = openOwnErrors({
    prefixes: settings.PREFIXES,
    corsOrigins: settings.CORS_ORIGINS,
    formats: errorFormats,
    files: legacyPaths.files,
    readTarget,
    knowledge: legacyWrites,
  });
  return {
    clientLimits: {
      sendTimeout,
      answerTimeout: longest,
      memory,
      maxConnections: settings.MAX_CLIENT_CONNECTIONS,
    },
    errorFormats,
    ownErrors,
    readTarget,
    guard: openGuard(observer.fault),
    trusted,
    untrustedProxies: openUntrustedProxies(trusted, (address) => {
      observer.event("untrusted_proxy", { address, advice: `if it is your proxy, set TRUSTED_PROXIES=${address}` });
    }),
    noteLoop: openLoops(dependencies, observer),
  };
};
