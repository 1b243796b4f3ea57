import type { Worker } from "node:cluster";
import { type Channel, openChannel } from "./channel.ts";
import type { WorkerReport } from "./peers.ts";

/** One worker, as the primary process sees it. */
export type WorkerProcess = {
  readonly number: number;
  /** Missing where the process could not be spawned. */
  readonly pid: number | undefined;
  readonly channel: Channel;
  /** It has its settings, so that it needs to hear what is told. */
  hasJoined: boolean;
  /** It takes connections. */
  isListening: boolean;
  /** What it reported last. */
  report: WorkerReport | undefined;
  /** Resolves when the process has ended, with its exit code; `null` after a signal, or where it could not be spawned. */
  readonly ended: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** Lets go of its port here, then tells it to close it. */
  releasePort(): void;
  /** Kills it, unless it has ended. `why` goes to `onKilled`. */
  kill(why: string): void;
  /** Sends a request; a worker that does not answer in time is killed. Resolves with the answer, or with nothing when the process has ended. */
  demand(method: string, payload: unknown, ms: number): Promise<unknown>;
};

/** Why a process was killed, or could not be spawned. */
export type WorkerFailures = {
  /** Called before it is killed. */
  onKill: (why: string, pid: number | undefined) => void;
  onNotSpawned: (error: Error) => void;
};

/** Follows one worker's process. */
export const followWorker = (
  worker: Worker,
  number: number,
  { onKill, onNotSpawned }: WorkerFailures,
): WorkerProcess => {
  const { process: child } = worker;
  const { pid } = child;
  const ended = new Promise<number | null>((resolve) => {
    child.once("exit", resolve);
    // The child's errors come here too; one without a listener would end the primary process.
    worker.on("error", (error) => {
      // There is no exit of what was not spawned. Other errors are of messages and signals to an ended process.
      if (pid !== undefined) return;
      onNotSpawned(error);
      resolve(null);
    });
  });
  let isKilled = false;
  const kill = (why: string): void => {
    if (isKilled || child.exitCode !== null || child.signalCode !== null) return;
    isKilled = true;
    onKill(why, pid);
    child.kill("SIGKILL");
  };
  const channel = openChannel(
    {
      send: (text, done) => void child.send(text, done),
      onMessage: (listener) => void child.on("message", listener),
    },
    () => kill("it does not take its messages"),
  );
  void ended.then(channel.close);
  return {
    number,
    pid,
    channel,
    hasJoined: false,
    isListening: false,
    report: undefined,
    ended,
    signal: (name) => void child.kill(name),
    releasePort: () => void worker.disconnect(),
    kill,
    async demand(method, payload, ms) {
      const late = setTimeout(() => kill(`it did not answer ${method} within ${ms} ms`), ms);
      try {
        return await channel.request(method, payload);
      } catch {
        // Its channel has closed: it has been killed, or ends by itself.
        await ended;
        return undefined;
      } finally {
        clearTimeout(late);
      }
    },
  };
};
