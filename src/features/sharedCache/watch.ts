import { ClientOfflineError } from "redis";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { openSerialQueue, type SerialQueue } from "../../concurrency/serialQueue.ts";
import { type Connection, connectRedis } from "./connection.ts";

/** A Redis that is looked at again and again: whenever something is heard on a channel, and with each beat, as a message may be lost. */
export type Watch = {
  /** As the connection's; where there is none it says why. */
  run: Connection["run"];
  /** As soon as it is its turn. */
  look(): Promise<void>;
  /** What is done between two looks. */
  inTurn: SerialQueue;
  /** Until then nothing is looked at. */
  begin(): void;
  /** Nothing is told any more; `last` is waited for so many milliseconds. */
  close(ms: number, last?: () => Promise<void>): Promise<void>;
};

export type WatchSettings = {
  url: string;
  channel: string;
  /** Told before the look that it brings about. */
  onMessage?: (text: string) => void;
  /** `isBeat`: whatever was heard, or not. */
  look: (isBeat: boolean) => Promise<void>;
  /** It does not do what it is asked, or does again. */
  onStatus: (status: "lost" | "up", about: { why?: string }) => void;
  /** Milliseconds between two beats. */
  beat?: number | undefined;
  /** Milliseconds without a look that worked until the connections are made anew. */
  patience?: number | undefined;
};

const SILENT = "it does not answer";

export const watchRedis = ({
  url,
  channel,
  onMessage,
  look: lookNow,
  onStatus,
  beat = 1000,
  patience = 3000,
}: WatchSettings): Watch => {
  const inTurn = openSerialQueue();
  let isOpen = false;
  let status: "up" | "lost" = "up";
  let triedAt = 0;
  let isWaiting = false;
  let isBeatDue = false;
  let broken: Error | undefined;
  let timer: NodeJS.Timeout | undefined;

  const connection = connectRedis({
    url,
    channels: [channel],
    onMessage(text) {
      onMessage?.(text);
      void look();
    },
    onListening() {
      broken = undefined;
      void look(true);
    },
    onDeaf: () => undefined,
    // Told by what is asked meanwhile and fails.
    onError: (error) => (broken = error),
  });

  const became = (next: "up" | "lost", why?: string) => {
    if (status === next || !isOpen) return;
    status = next;
    onStatus(next, why === undefined ? {} : { why });
  };

  /** What has changed meanwhile is seen by the look that still waits for its turn. */
  const look = async (isBeat = false): Promise<void> => {
    isBeatDue ||= isBeat;
    // Where nothing is heard, beats are enough.
    if (isWaiting || !isOpen || !(isBeat || connection.isListening())) return;
    isWaiting = true;
    try {
      await inTurn(() => {
        isWaiting = false;
        const isDue = isBeatDue;
        isBeatDue = false;
        return lookNow(isDue);
      });
      triedAt = performance.now();
      became("up");
    } catch (error) {
      // A connection that is only being made is not lost, until patience ends.
      const isBeingMade = broken === undefined && (error as Error).cause instanceof ClientOfflineError;
      if (!isBeingMade) became("lost", (error as Error).message);
    }
  };

  return {
    run: (...about) =>
      connection.run(...about).catch((error: unknown) => {
        // That the client is offline says less than why.
        const why = error instanceof ClientOfflineError ? (broken?.message ?? SILENT) : undefined;
        throw why === undefined ? error : new Error(why, { cause: error });
      }),
    look,
    inTurn,
    begin() {
      isOpen = true;
      triedAt = performance.now();
      timer = setInterval(() => {
        if (performance.now() - triedAt > patience) {
          triedAt = performance.now();
          became("lost", broken?.message ?? SILENT);
          connection.renew();
        }
        void look(true);
      }, beat);
      timer.unref();
    },
    async close(ms, last = async () => undefined) {
      isOpen = false;
      clearInterval(timer);
      await withTimeout(inTurn(last), ms);
      await connection.close();
    },
  };
};
