import cluster, { type Worker } from "node:cluster";
import { withTimeout } from "../concurrency/withTimeout.ts";
import type { Observer } from "../telemetry/observer.ts";
import { followWorker, type WorkerProcess } from "./workerProcess.ts";

/** What a supervisor is opened with. */
export type SupervisorSettings = {
  /** The processes that run now. */
  workers: Set<WorkerProcess>;
  count: number;
  exec: string;
  args: string[];
  observer: Pick<Observer, "event">;
  onStarted: (worker: WorkerProcess) => void;
  onEnded: (worker: WorkerProcess) => void;
  /** No worker is left, and several in a row could not be started. */
  onHopeless: () => void;
};

/** Milliseconds until an ended worker is replaced: it doubles with each one that ends before it has listened for so long. */
const FIRST_DELAY = 100;
const MAX_DELAY = 30_000;
const LONG_LIFE = 10_000;
/** Workers in a row that may fail to start while none is left. */
const MAX_FAILURES = 5;
/** Milliseconds beyond the time for requests in flight after which a worker that still runs is killed. */
const KILL_AFTER = 1000;

/** Starts the workers, replaces those that end, and stops them. */
export const openSupervisor = ({ workers, count, exec, args, observer, ...on }: SupervisorSettings) => {
  let isStopping = false;
  /** All have started, so that what fails from now on has clients. */
  let isStarted = false;
  /** Workers that did not end with 0 during the stop. */
  let unclean = 0;
  let ends = 0;
  /** Workers in a row that ended soon. */
  let failures = 0;
  // All accept from one queue, which outlives each of them. Handing connections over (the default) costs twice the CPU of a connection, and
  // ports of their own (SO_REUSEPORT) lose the connections that wait where a worker ends.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec, args });

  const notSpawned = (number: number, error: unknown): void =>
    observer.event("worker_not_spawned", { worker: number, why: (error as Error).message });
  const fork = (number: number): Worker | undefined => {
    try {
      return cluster.fork();
    } catch (error) {
      notSpawned(number, error);
      return undefined;
    }
  };
  /** Starts one worker. Resolves with its port when it listens; with nothing if it ends before, or cannot be spawned. */
  const startOne = (number: number): Promise<number | undefined> =>
    new Promise((resolve) => {
      const forked = fork(number);
      if (forked === undefined) return resolve(undefined);
      const worker = followWorker(forked, number, {
        onKill: (why, pid) => observer.event("worker_killed", { worker: number, pid, why }),
        onNotSpawned: (error) => notSpawned(number, error),
      });
      workers.add(worker);
      let listensSince = Infinity;
      worker.channel.handle("listening", (port: number) => {
        worker.isListening = true;
        listensSince = performance.now();
        resolve(port);
      });
      on.onStarted(worker);
      const onEnd = (code: number | null): void => {
        workers.delete(worker);
        on.onEnded(worker);
        resolve(undefined);
        if (listensSince === Infinity) return;
        if (isStopping) {
          if (isStarted && code !== 0) {
            unclean++;
            observer.event("worker_stop_failed", { worker: number, pid: worker.pid, code });
          }
          return;
        }
        ends++;
        observer.event("worker_ended", { worker: number, pid: worker.pid, code });
        if (performance.now() - listensSince >= LONG_LIFE) failures = 0;
        replaceLater(number);
      };
      void worker.ended.then(onEnd);
      return undefined;
    });
  const replaceLater = (number: number): void => {
    const delay = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** failures++);
    setTimeout(() => void replace(number), delay);
  };
  const replace = async (number: number): Promise<void> => {
    if (isStopping) return;
    const port = await startOne(number);
    if (port !== undefined) {
      observer.event("worker_replaced", { worker: number });
      return;
    }
    if (failures >= MAX_FAILURES && ![...workers].some((one) => one.isListening)) on.onHopeless();
    else if (!isStopping) replaceLater(number);
  };
  const stop = (name: NodeJS.Signals): void => {
    isStopping = true;
    for (const worker of workers) worker.signal(name);
  };
  const releasePort = (): void => {
    for (const worker of workers) worker.releasePort();
  };
  const end = async (timeout: number): Promise<boolean> => {
    isStopping = true;
    const ended = Promise.all([...workers].map((worker) => worker.ended));
    if ((await withTimeout(ended, timeout + KILL_AFTER)) === "late")
      for (const worker of workers) worker.kill(`it did not end within ${timeout + KILL_AFTER} ms of the stop`);
    await ended;
    return unclean === 0;
  };

  return {
    ends: () => ends,
    /** Sends a signal to all workers; from then on none is replaced. */
    stop,
    /**
     * Closes the port. This process lets go of it first: were it the last to hold it, connections would come that no worker accepts, and be
     * reset. The workers answer until they have closed it too.
     */
    releasePort,
    /** Resolves when all have ended; those that have not within this time are killed. True where each ended with 0, which events say of the others. */
    end,
    async start(): Promise<number | undefined> {
      // The first alone: what is wrong is said once.
      const port = await startOne(1);
      const others =
        port === undefined ? [] : await Promise.all(Array.from({ length: count - 1 }, (_, i) => startOne(i + 2)));
      isStarted = port !== undefined && !others.includes(undefined);
      if (isStarted) return port;
      stop("SIGKILL");
      await end(0);
      return undefined;
    },
  };
};
