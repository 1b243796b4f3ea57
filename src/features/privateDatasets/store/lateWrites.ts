/** Writes that are asked for often and made seldom, the last of them always. */
export type LateWrites = {
  ask(): void;
  /** What was asked for is written first; never rejects. */
  close(): Promise<void>;
};

export type LateWritesSettings = {
  write: () => Promise<void>;
  /** Milliseconds from when one is asked for until it is made; one that fails is made again after as many. */
  delay: number;
  onStatus: (status: "lost" | "up", about: { why?: string }) => void;
};

export const openLateWrites = ({ write, delay, onStatus }: LateWritesSettings): LateWrites => {
  let isAsked = false;
  let isLost = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  const make = async (): Promise<void> => {
    if (!isAsked) return;
    isAsked = false;
    try {
      await write();
      if (isLost) onStatus("up", {});
      isLost = false;
    } catch (error) {
      isAsked = true;
      if (!isLost) onStatus("lost", { why: (error as Error).message });
      isLost = true;
    }
  };
  const later = () => {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => {
      running = make().finally(() => {
        timer = undefined;
        // Asked for while it was written, or failed.
        if (isAsked) later();
      });
    }, delay);
    timer.unref();
  };

  return {
    ask() {
      isAsked = true;
      later();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
      await make();
    },
  };
};
