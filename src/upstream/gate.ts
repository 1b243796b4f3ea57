/** Something that wants a turn; `start` is called when it comes. */
export type Turn = { start(): void };

/** Lets so many run at once and so many more wait, in their order. */
export type Gate = {
  /** Takes a turn at once, waits for one, or (false) is refused. Whoever got in must `leave` or `withdraw` once. */
  enter(turn: Turn): boolean;
  /** Gives up a turn that still waits; false where it has begun. */
  withdraw(turn: Turn): boolean;
  /** Ends a turn that had begun. */
  leave(): void;
  /** When nobody runs or waits any more. */
  idle(): Promise<void>;
  readonly running: number;
  readonly waiting: number;
};

/** A gate for `places` at once and `queue` waiting. Whoever gives up frees the place at once, unlike in undici's own queue. */
export const openGate = (places: number, queue: number): Gate => {
  const waiting = new Set<Turn>();
  const watchers: (() => void)[] = [];
  let running = 0;

  const settle = (): void => {
    if (running === 0 && waiting.size === 0) for (const watcher of watchers.splice(0)) watcher();
  };

  return {
    enter(turn) {
      if (running < places) {
        running++;
        turn.start();
        return true;
      }
      if (waiting.size >= queue) return false;
      waiting.add(turn);
      return true;
    },
    withdraw(turn) {
      const waited = waiting.delete(turn);
      if (waited) settle();
      return waited;
    },
    leave() {
      const next = waiting.values().next().value;
      if (next === undefined) {
        running--;
        settle();
        return;
      }
      waiting.delete(next);
      next.start();
    },
    idle() {
      return new Promise((resolve) => {
        watchers.push(resolve);
        settle();
      });
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiting.size;
    },
  };
};
