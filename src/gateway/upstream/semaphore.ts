/** One request for a place. */
export type Turn = {
  /** Called when it gets a place. */
  start(): void;
  /** Called in place of `start`, when it has waited too long. */
  expire(): void;
};

/** A semaphore: so many run at once, so many more wait in their order, each for a limited time. */
export type Semaphore = {
  /** Takes a place at once or waits for one; false: the queue is full. A turn that started must `leave` once. */
  enter(turn: Turn): boolean;
  /** Takes a turn out of the queue; false where it does not wait. */
  withdraw(turn: Turn): boolean;
  /**
   * Ends a turn that runs, and starts the next one. A set of those that run would hold each up in
   * memory: this path is hot.
   */
  leave(): void;
  /** Resolves when no turn runs or waits. */
  idle(): Promise<void>;
  readonly running: number;
  readonly waiting: number;
};

/** The sizes of a semaphore: turns that run at once, turns that wait, and milliseconds for which one waits. */
type SemaphoreSettings = { places: number; queue: number; waitTimeout: number };

/** Opens a semaphore. A turn that is withdrawn frees its place at once, unlike in undici's own queue. */
export const openSemaphore = ({ places, queue, waitTimeout }: SemaphoreSettings): Semaphore => {
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
    withdraw,
    enter(turn) {
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
    leave() {
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
    idle: () =>
      new Promise((resolve) => {
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
