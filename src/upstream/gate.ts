/**
 * Something that wants a place. `start` is called when it gets one, `expire` when it has waited too long; never both.
 * `isUpload`: it holds its place for as long as its client takes to send a body.
 */
export type Turn = { start(): void; expire(): void; readonly isUpload?: boolean };

/** A semaphore: so many run at once, so many more wait in their order, each for a limited time. */
export type Gate = {
  /** Takes a place at once or waits for one; false: the queue is full. A turn that got in must `leave`, `withdraw` or `expire` once. */
  enter(turn: Turn): boolean;
  /** Gives up a turn that still waits; false where it has begun. */
  withdraw(turn: Turn): boolean;
  /** Ends a turn that had begun. */
  leave(turn: Turn): void;
  /** When nobody runs or waits any more. */
  idle(): Promise<void>;
  readonly running: number;
  readonly waiting: number;
};

/** Milliseconds that a turn waits by default. */
const WAIT_TIMEOUT = 10_000;

/**
 * A gate with `places`; at most `queue` turns wait, and half as many uploads beside them, each at most `waitTimeout` ms. Uploads take at most
 * half of the places, so that slow clients never hold all of them. A turn that gives up frees its place at once, unlike in undici's own queue.
 */
export const openGate = (places: number, queue: number, waitTimeout = WAIT_TIMEOUT): Gate => {
  const uploadPlaces = Math.max(1, Math.floor(places / 2));
  const uploadQueue = Math.ceil(queue / 2);
  type Waiting = { number: number; timer: NodeJS.Timeout };
  const uploads = new Map<Turn, Waiting>();
  const others = new Map<Turn, Waiting>();
  const watchers: (() => void)[] = [];
  let running = 0;
  let uploading = 0;
  let entered = 0;

  const queueOf = (turn: Turn) => (turn.isUpload === true ? uploads : others);

  const settle = (): void => {
    if (running === 0 && uploads.size + others.size === 0) for (const watcher of watchers.splice(0)) watcher();
  };

  const withdraw = (turn: Turn): boolean => {
    const waiting = queueOf(turn).get(turn);
    if (waiting === undefined) return false;
    clearTimeout(waiting.timer);
    queueOf(turn).delete(turn);
    settle();
    return true;
  };

  const run = (turn: Turn): void => {
    running++;
    if (turn.isUpload === true) uploading++;
    turn.start();
  };

  /** The one that has waited longest of those that may run. */
  const next = (): Turn | undefined => {
    const [other] = others;
    const [upload] = uploading < uploadPlaces ? uploads : [];
    if (other === undefined || upload === undefined) return (other ?? upload)?.[0];
    return other[1].number < upload[1].number ? other[0] : upload[0];
  };

  return {
    enter(turn) {
      if (running < places && (turn.isUpload !== true || uploading < uploadPlaces)) {
        run(turn);
        return true;
      }
      // Uploads wait for places that other requests do not need, so they must not use up the others' queue.
      if (turn.isUpload === true ? uploads.size >= uploadQueue : others.size >= queue) return false;
      const timer = setTimeout(() => withdraw(turn) && turn.expire(), waitTimeout);
      queueOf(turn).set(turn, { number: entered++, timer });
      return true;
    },
    withdraw,
    leave(turn) {
      running--;
      if (turn.isUpload === true) uploading--;
      const following = next();
      if (following === undefined) return settle();
      clearTimeout(queueOf(following).get(following)?.timer);
      queueOf(following).delete(following);
      run(following);
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
      return uploads.size + others.size;
    },
  };
};
