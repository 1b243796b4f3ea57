import { ClientOfflineError } from "@redis/client";
import { openSerialQueue } from "../../concurrency/serialQueue.ts";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { connectRedis } from "./connection.ts";
import { openHeartbeat } from "./heartbeat.ts";
import type { RunScript } from "./script.ts";

/** What a Redis is watched with; times are milliseconds. */
export type WatchSettings = {
  url: string;
  channel: string;
  /** Reads what has changed. `isBeat`: the interval has passed, so it does more than what a message asks for. */
  look: (isBeat: boolean) => Promise<void>;
  /** Redis does not do what it is asked, or does so again. */
  onStatus: (status: "lost" | "up", about: { why?: string }) => void;
  /** Between two checks. */
  interval: number;
  /** Without an answer until the connections are replaced. */
  renewAfter: number;
};

const SILENT = "it does not answer";

/** Looks at a Redis after every message on a channel, and at every interval, since messages may be lost. Nothing is looked at before `start`. */
export const watchRedis = ({ url, channel, look, onStatus, interval, renewAfter }: WatchSettings) => {
  const inTurn = openSerialQueue();
  let isOpen = false;
  let status: "up" | "lost" = "up";
  let broken: Error | undefined;
  let answeredAt = -Infinity;
  let isWaiting = false;
  let isBeatDue = false;
  let heartbeat: ReturnType<typeof openHeartbeat> | undefined;

  const connection = connectRedis({
    url,
    channels: [channel],
    onMessage: () => void lookSoon(false),
    onListening() {
      broken = undefined;
      void lookSoon(true);
    },
    // Reported by the next command that fails.
    onError: (error) => (broken = error),
  });
  const become = (next: "up" | "lost", why?: string) => {
    if (status === next || !isOpen) return;
    status = next;
    onStatus(next, why === undefined ? {} : { why });
  };
  /** Looks when it is its turn; several calls that wait for it are one look. */
  const lookSoon = async (isBeat: boolean): Promise<void> => {
    isBeatDue ||= isBeat;
    // Where nothing is heard, the looks at every interval are enough.
    if (isWaiting || !isOpen || !(isBeat || connection.isListening())) return;
    isWaiting = true;
    try {
      await inTurn(() => {
        isWaiting = false;
        const isDue = isBeatDue;
        isBeatDue = false;
        return look(isDue);
      });
      answeredAt = performance.now();
      become("up");
    } catch (error) {
      // A connection that is being made is not lost yet.
      const isConnecting = broken === undefined && (error as Error).cause instanceof ClientOfflineError;
      if (!isConnecting) become("lost", (error as Error).message);
    }
  };
  const run: RunScript = (...about) =>
    connection.run(...about).catch((error: unknown) => {
      if (!(error instanceof ClientOfflineError)) throw error;
      throw new Error(broken?.message ?? SILENT, { cause: error });
    });

  return {
    /** Runs a script; rejects with the reason if there is no connection. */
    run,
    /** Runs a task between two looks. */
    inTurn,
    look: () => void lookSoon(false),
    start(): void {
      isOpen = true;
      heartbeat = openHeartbeat({
        interval,
        patience: renewAfter,
        healthyAt: () => answeredAt,
        check: () => lookSoon(true),
        renew() {
          become("lost", broken?.message ?? SILENT);
          connection.renew();
        },
      });
    },
    /** Ends the connection after a last task, for which it waits so long. Nothing is reported any more. */
    async close(last: () => Promise<void>, timeout: number): Promise<void> {
      isOpen = false;
      heartbeat?.close();
      await withTimeout(inTurn(last), timeout);
      connection.close();
    },
  };
};
