import { randomBytes } from "node:crypto";
import type { Settings } from "../settings/settings.ts";
import type { Meter } from "../telemetry/meter.ts";
import type { Observer } from "../telemetry/observer.ts";
import { combineDependencies } from "./dependencies.ts";
import { hostStore, type SentChanges, type SentUpdate, type StoreHost } from "./hostStore.ts";
import { aggregateMetrics, openEndedMetrics } from "./metrics.ts";
import type { CacheSize, Peers, WorkerReport, WorkersView } from "./peers.ts";
import { openSupervisor } from "./supervisor.ts";
import type { WorkerProcess } from "./workerProcess.ts";

/** What a worker gets when it joins. */
export type JoinAnswer = { number: number; count: number; salt: string; settings: Settings; legacy: string };

/** Milliseconds in which a worker has to hear what it is told, and to report. */
const HEARD_MS = 2000;
const REPORT_MS = 10_000;
/** Milliseconds between two reports, between two with metrics, and that a reader of them waits. */
const INTERVAL = 1000;
const METRICS_INTERVAL = 10_000;
const COLLECT_MS = 1000;

/** What workers are started with: the settings as they were read, and the URL of legacy, be it the sample. */
type StartedWith = { settings: Settings; legacy: string; meter: Pick<Meter, "gauge" | "total"> };

/** The port that all workers listen on. `stop` waits for workers that were told to stop: `timeout` ms after `delay`; true where each has answered all. */
type Listening = { port: number; stop(timeout: number, delay?: Promise<unknown>): Promise<boolean> };

/** The primary process of a gateway with several workers. */
export type Primary = {
  peers: Peers;
  count: number;
  /** Starts the workers: the first alone, so that what is wrong is said once. Resolves with the port that all listen on, or with nothing where one cannot start. */
  start(about: StartedWith): Promise<Listening | undefined>;
  /** These settings were reloaded: workers that start from now on get them. Those that run are told by SIGHUP to read them. */
  reloaded(next: Settings, names: readonly string[]): void;
  /** Tells all workers to stop: with SIGTERM, or with SIGINT once `urgent` is aborted. */
  passOn(urgent: AbortSignal): void;
};

/** What the primary process is opened with. */
export type PrimarySettings = {
  /** How many workers. */
  count: number;
  /** The file of the program, and its arguments in a worker. */
  exec: string;
  args: string[];
  observer: Pick<Observer, "event">;
  /** No worker is left, and none can be started. */
  onHopeless: () => void;
};

/** Opens the primary process; no worker is started yet. */
export const openPrimary = ({ count, exec, args, observer, onHopeless }: PrimarySettings): Primary => {
  const salt = randomBytes(32).toString("base64url");
  const workers = new Set<WorkerProcess>();
  const listeners = new Map<string, (message: unknown) => void>();
  const hosts = new Map<string, Promise<StoreHost>>();
  const view = openWorkersView(workers);
  let join: Omit<JoinAnswer, "number"> | undefined;

  /** Tells all workers but the one that it comes from. */
  const tellWorkers = async (topic: string, message: unknown, except?: unknown): Promise<void> => {
    const others = [...workers].filter((one) => one !== except && one.hasJoined);
    await Promise.all(others.map((one) => one.demand("hear", { topic, message }, HEARD_MS)));
  };

  const peers: Peers = {
    isWorker: false,
    salt,
    tell: tellWorkers,
    hear: (topic, listener) => void listeners.set(topic, listener),
    async openStore(settings, open) {
      const { name } = settings;
      const hosted = hostStore(settings, open, (changes, except) => tellWorkers(`store ${name}`, changes, except));
      hosts.set(
        name,
        hosted.then(({ host }) => host),
      );
      hosts.get(name)?.catch(() => undefined);
      return (await hosted).store;
    },
    reportBy: () => undefined,
    workers: view,
  };

  const handleRequests = (worker: WorkerProcess): void => {
    const { channel } = worker;
    const hostOf = (name: string): Promise<StoreHost> => {
      const host = hosts.get(name);
      return host ?? Promise.reject(new Error(`${name}: no such store`));
    };
    channel.handle("join", () => {
      worker.hasJoined = true;
      return { ...join, number: worker.number };
    });
    channel.handle("tell", async ({ topic, message }: { topic: string; message: unknown }) => {
      listeners.get(topic)?.(message);
      await tellWorkers(topic, message, worker);
    });
    channel.handle("openStore", async (name: string) => {
      const { kind, sendAll } = await hostOf(name);
      await sendAll((changes) => void worker.demand("hear", { topic: `store ${name}`, message: changes }, HEARD_MS));
      return kind;
    });
    channel.handle("update", async ({ name, update }: { name: string; update: SentUpdate }) =>
      (await hostOf(name)).update(update, worker),
    );
    channel.handle("save", async (about: { name: string; changes: SentChanges; isMinor: boolean }) =>
      (await hostOf(about.name)).save(about.changes, about.isMinor, worker),
    );
    channel.handle("leave", (report: WorkerReport) => view.take(worker, report));
  };

  const supervisor = openSupervisor({
    workers,
    count,
    exec,
    args,
    observer,
    onStarted: handleRequests,
    onEnded: view.end,
    onHopeless,
  });
  let reporting: NodeJS.Timeout[] = [];

  return {
    peers,
    count,
    async start({ settings, legacy, meter }) {
      meter.gauge(
        "workers",
        "Workers that answer clients.",
        () => [...workers].filter((one) => one.isListening).length,
      );
      meter.total("worker_ends_total", "Workers that ended unasked, or were killed.", supervisor.ends);
      join = { count, salt, settings, legacy };
      reporting = [
        setInterval(() => void view.ask(), INTERVAL).unref(),
        setInterval(() => void view.collect(), METRICS_INTERVAL).unref(),
      ];
      const port = await supervisor.start();
      if (port === undefined) return undefined;
      const stop: Listening["stop"] = async (timeout, delay) => {
        await delay;
        supervisor.releasePort();
        for (const timer of reporting) clearInterval(timer);
        return supervisor.end(timeout);
      };
      return { port, stop };
    },
    reloaded(next, names) {
      const changed = names.map((name) => [name, next[name as keyof Settings]]);
      if (join)
        join = { ...join, settings: { ...join.settings, ...(Object.fromEntries(changed) as Partial<Settings>) } };
      for (const worker of workers) if (worker.isListening) worker.signal("SIGHUP");
    },
    passOn(urgent) {
      supervisor.stop(urgent.aborted ? "SIGINT" : "SIGTERM");
      urgent.addEventListener("abort", () => supervisor.stop("SIGINT"));
    },
  };
};

/** Asks workers for reports: one request at a time for each worker. */
const openAsking = (
  workers: ReadonlySet<WorkerProcess>,
  withMetrics: boolean,
  take: (worker: WorkerProcess, report: WorkerReport) => void,
) => {
  const asking = new Map<WorkerProcess, Promise<void>>();
  const askOne = async (worker: WorkerProcess): Promise<void> => {
    const report = (await worker.demand("report", withMetrics, REPORT_MS)) as WorkerReport | undefined;
    asking.delete(worker);
    if (report) take(worker, report);
  };
  return {
    ask: async (): Promise<void> => {
      const joined = [...workers].filter((one) => one.hasJoined);
      for (const worker of joined) if (!asking.has(worker)) asking.set(worker, askOne(worker));
      await Promise.all(joined.flatMap((worker) => asking.get(worker) ?? []));
    },
    /** Resolves when all that is asked now is answered. */
    asked: () => Promise.all(asking.values()),
  };
};

/** The workers as one. `take`: a report of one of them, `end`: it has ended, `ask`: asks all of them for reports without metrics. */
const openWorkersView = (
  workers: ReadonlySet<WorkerProcess>,
): WorkersView & {
  take: (worker: WorkerProcess, report: WorkerReport) => void;
  end: (worker: WorkerProcess) => void;
  ask: () => Promise<void>;
} => {
  const ended = openEndedMetrics();
  let evicted = 0;
  let onReport = (_report: WorkerReport): void => undefined;
  const reports = (): WorkerReport[] => [...workers].flatMap(({ report }) => report ?? []);

  const take = (worker: WorkerProcess, report: WorkerReport): void => {
    if (!workers.has(worker)) return;
    worker.report = { ...report, metrics: report.metrics ?? worker.report?.metrics };
    onReport(report);
  };
  const brief = openAsking(workers, false, take);
  const whole = openAsking(workers, true, take);

  return {
    take,
    ask: brief.ask,
    end(worker) {
      if (worker.report === undefined) return;
      ended.add(worker.report.metrics ?? []);
      evicted += worker.report.cache.evicted;
    },
    onReport: (listener) => void (onReport = listener),
    async collect() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, COLLECT_MS)));
      // What is asked already may be from before what the reader wants to see.
      await Promise.race([whole.asked().then(whole.ask), late]);
      clearTimeout(timer);
    },
    cacheSize: () =>
      reports().reduce<CacheSize>(
        (sum, { cache }) => ({
          bytes: sum.bytes + cache.bytes,
          entries: sum.entries + cache.entries,
          evicted: sum.evicted + cache.evicted,
        }),
        { bytes: 0, entries: 0, evicted },
      ),
    untrustedProxies() {
      const requests = new Map<string, number>();
      for (const proxy of reports().flatMap((one) => one.untrustedProxies))
        requests.set(proxy.address, (requests.get(proxy.address) ?? 0) + proxy.requests);
      return Array.from(requests, ([address, count]) => ({ address, requests: count })).toSorted(
        (a, b) => b.requests - a.requests,
      );
    },
    dependencies: (own) => combineDependencies([own, ...reports().map(({ dependencies }) => dependencies)]),
    openCircuits: (own) => [...new Set([...own, ...reports().flatMap(({ openCircuits }) => openCircuits)])],
    isBusy: () => reports().some(({ isBusy }) => isBusy),
    dispatches: () => reports().length > 0 && reports().every(({ dispatches }) => dispatches),
    metrics: async (own) =>
      aggregateMetrics([await own(), ended.metrics(), ...reports().map(({ metrics }) => metrics ?? [])]),
  };
};
