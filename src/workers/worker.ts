import { openChannel } from "./channel.ts";
import { copiedStore } from "./copiedStore.ts";
import type { SentChanges, UpdateAnswer } from "./hostStore.ts";
import type { KeyedStore } from "../store/keyedStore.ts";
import type { Peers, WorkerReport } from "./peers.ts";
import type { JoinAnswer } from "./primary.ts";

/** A worker that has joined its primary process. */
export type JoinedWorker = JoinAnswer & {
  peers: Peers;
  /** The primary process has printed them. */
  warnings: string[];
  /** Says that it listens, on this port. */
  listens(port: number): Promise<void>;
  /** Reports for the last time, before the process ends. */
  leave(): Promise<void>;
};

/** Joins the primary process; `undefined` where this process was not started by one. The process ends when the primary process does. */
export const joinPrimary = async (): Promise<JoinedWorker | undefined> => {
  const send = process.send?.bind(process);
  if (send === undefined) return undefined;
  // What others write would not be heard any more.
  const end = (): never => process.exit(1);
  process.once("disconnect", end);
  const listeners = new Map<string, (message: unknown) => void>();
  const channel = openChannel(
    {
      send: (text, done) => void send(text, undefined, undefined, done),
      onMessage: (listener) => void process.on("message", listener),
    },
    end,
  );
  const { request, handle } = channel;
  let report: ((withMetrics: boolean) => Promise<WorkerReport>) | undefined;
  handle("hear", ({ topic, message }: { topic: string; message: unknown }) => listeners.get(topic)?.(message));
  handle("report", (withMetrics: boolean) => report?.(withMetrics));
  const joined = (await request("join")) as JoinAnswer;
  const hear: Peers["hear"] = (topic, listener) => void listeners.set(topic, listener);
  const peers: Peers = {
    isWorker: true,
    salt: joined.salt,
    tell: async (topic, message) => void (await request("tell", { topic, message })),
    hear,
    openStore: (settings) => {
      const { name } = settings;
      return copiedStore(settings, {
        async open(onChanges) {
          hear(`store ${name}`, (changes) => onChanges(changes as SentChanges));
          return (await request("openStore", name)) as KeyedStore<unknown>["kind"];
        },
        update: (update) => request("update", { name, update }) as Promise<UpdateAnswer>,
        save: (changes, isMinor) => void request("save", { name, changes, isMinor }).catch(() => undefined),
      });
    },
    reportBy: (make) => void (report = make),
  };
  return {
    ...joined,
    warnings: [],
    peers,
    listens: async (port) => void (await request("listening", port)),
    async leave() {
      if (report) await request("leave", await report(true)).catch(() => undefined);
    },
  };
};
