import type { ShareStore } from "../store/keyedStore.ts";
import type { UntrustedProxy } from "../upstream/untrustedProxies.ts";
import type { DependencyState } from "../telemetry/dependencies.ts";
import type { FamilyValues } from "../telemetry/series.ts";

/** What a cache holds now, and how many entries it has evicted so far. */
export type CacheSize = { bytes: number; entries: number; evicted: number };

/** What a worker reports to the primary process. */
export type WorkerReport = {
  cache: CacheSize;
  /** Whether callers take so much of legacy that what runs in the background has to wait. */
  isBusy: boolean;
  /** Whether its requests get to the connections to legacy. */
  dispatches: boolean;
  /** Peers whose forwarded headers it does not believe. */
  untrustedProxies: readonly UntrustedProxy[];
  /** What it uses, as it was seen last. */
  dependencies: readonly DependencyState[];
  /** Backends that get no requests of it, or one that finds out whether they are back. */
  openCircuits: readonly string[];
  /** All that it has counted so far, where that was asked for: it is most of a report. */
  metrics?: FamilyValues[] | undefined;
  /** What each feature has counted since the last report, in the order of the features. */
  features: unknown[];
};

/**
 * The other processes of this gateway, where `WORKERS` asks for more than one. The primary process takes no requests of clients: it has
 * the operators' listener, the state that is kept, and what runs in the background. The workers answer clients.
 */
export type Peers = {
  isWorker: boolean;
  /** Random; all processes of this gateway know it, and nothing else does. */
  salt: string;
  /** Tells all other processes. Resolves when each of them has heard it, or was killed because it did not hear it in time. */
  tell: (topic: string, message: unknown) => Promise<void>;
  /** Sets the listener of a topic. Messages of one process are heard in the order in which it tells them. */
  hear: (topic: string, listener: (message: unknown) => void) => void;
  /** Opens values that all processes share: the primary process keeps them, each worker has a copy. */
  openStore: ShareStore;
  /** In a worker: sets what it reports. */
  reportBy: (report: (withMetrics: boolean) => Promise<WorkerReport>) => void;
  /** In the primary process: the workers as one. */
  workers?: WorkersView;
};

/** The workers as one, as of their last reports. */
export type WorkersView = {
  /** Called with each report. */
  onReport(listener: (report: WorkerReport) => void): void;
  /** Asks all workers for a report with metrics, and waits for a second at most. */
  collect(): Promise<void>;
  /** The size of all caches together; evicted entries of workers that have ended are counted. */
  cacheSize(): CacheSize;
  /** Whether any worker is busy. */
  isBusy(): boolean;
  /** Peers whose forwarded headers are not believed, the busiest first. */
  untrustedProxies(): UntrustedProxy[];
  /** Whether requests of all workers get to the connections to legacy; false without any worker. */
  dispatches(): boolean;
  /** The dependencies of all processes as one list; failed where any process has seen a failure. `own`: those of this process. */
  dependencies(own: readonly DependencyState[]): DependencyState[];
  /** Backends whose circuit is open in any process. `own`: those of this process. */
  openCircuits(own: readonly string[]): string[];
  /** The metrics of all processes as one. Counters of workers that have ended are in them. `own`: reads those of this process. */
  metrics(own: () => Promise<FamilyValues[]>): Promise<FamilyValues[]>;
};
