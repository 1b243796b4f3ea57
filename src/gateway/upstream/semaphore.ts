/** A request for a place. */
export type Turn = {
  /** Called when the turn gets a place. */
  start(): void;
  /** Called instead of `start` if the turn has waited too long. */
  expire(): void;
};

/** The bounds of a semaphore: turns that run at once, turns that wait, and milliseconds that a turn may wait. */
type SemaphoreSettings = { places: number; queue: number; waitTimeout: number };

/**
 * Opens a semaphore: `places` turns run at once, and `queue` more wait in their order, each for a limited time. Unlike
 * in undici's queue, a turn that is withdrawn frees its place at once.
 */
export const openSemaphore = ({ places, queue, waitTimeout }: SemaphoreSettings) => {
  const waiting = new Map<Turn, NodeJS.Timeout>();
  const watchers: (() => void)[] = [];
  let running = 0;

  const notifyIdle = (): void => {
    if (running + waiting.size === 0) for (const watcher of watchers.splice(0)) watcher();
  };
  const withdraw = (turn: Turn): boolean => {
    clearTimeout(waiting.get(turn));
    return waiting.delete(turn);
  };

  return {
    /** Takes a turn out of the queue; false if it does not wait. */
    withdraw,
    /** Takes a place at once or waits for it; false: the queue is full. A turn that has started must `leave` once. */
    enter(turn: Turn): boolean {
      if (running < places) {
        running++;
        turn.start();
        return true;
      }
      if (waiting.size >= queue) return false;
      const expire = () => {
        if (withdraw(turn)) turn.expire();
      };
      waiting.set(turn, setTimeout(expire, waitTimeout));
      return true;
    },
    /**
     * Ends a running turn, and starts the next turn. Running turns are only counted, not kept in a set, which would
     * take memory for each: this path is hot.
     */
    leave(): void {
      const [next] = waiting;
      if (next === undefined) {
        running--;
        return notifyIdle();
      }
      const [turn, timer] = next;
      clearTimeout(timer);
      waiting.delete(turn);
      turn.start();
    },
    /** Resolves when no turn runs or waits. */
    idle: () =>
      new Promise<void>((resolve) => {
        watchers.push(resolve);
        notifyIdle();
      }),
    get running() {
      return running;
    },
    get waiting() {
      return waiting.size;
    },
  };
};
