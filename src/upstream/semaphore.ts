/** One request for a place. */
export type Turn = {
  /** Called when it gets a place. */
  start(): void;
  /** Called in place of `start`, when it has waited too long. */
  expire(): void;
  /** It holds its place for as long as its client takes to send a body. */
  readonly isUpload?: boolean;
  /** Milliseconds for which its client has kept it waiting now; for turns that are named `slow`. */
  stalledFor?(): number;
  /** Ends a slow turn that others wait for; it leaves as soon as it can. */
  giveWay?(): void;
};

/** A semaphore: so many run at once, so many more wait in their order, each for a limited time. */
export type Semaphore = {
  /** Takes a place at once or waits for one; false: the queue is full. A turn that got in must `leave`, `withdraw` or `expire` once. */
  enter(turn: Turn): boolean;
  /** Gives up a turn that still waits; false where it has begun. */
  withdraw(turn: Turn): boolean;
  /** Ends a turn that had begun. */
  leave(turn: Turn): void;
  /** Says, once, that a turn which has begun goes no faster than its slow client. */
  becomesSlow(turn: Turn): void;
  /** Resolves when no turn runs or waits. */
  idle(): Promise<void>;
  readonly running: number;
  readonly waiting: number;
  /** Slow turns that run in a place. */
  readonly slow: number;
  /** Slow turns that run beside the places. */
  readonly aside: number;
};

/** The sizes of a semaphore. */
type SemaphoreSettings = {
  places: number;
  /** Turns at most that wait; half as many uploads may wait beside them. */
  queue: number;
  /** Milliseconds that a turn waits at most (default: 10 s). */
  waitTimeout?: number | undefined;
  /** Slow turns that may run beside the places (default: 0). */
  asidePlaces?: number | undefined;
};

/** Milliseconds that a turn waits by default. */
const WAIT_TIMEOUT = 10_000;

/**
 * Opens a semaphore of which slow clients never hold all places. Uploads take at most half of them. A turn that becomes slow runs on
 * beside the places. Where `asidePlaces` turns do so already, it stays in its place until another turn has to wait; then the slow turn
 * that has stalled the longest is ended. A turn that gives up frees its place at once, unlike in undici's own queue.
 */
export const openSemaphore = ({
  places,
  queue,
  waitTimeout = WAIT_TIMEOUT,
  asidePlaces = 0,
}: SemaphoreSettings): Semaphore => {
  const uploadPlaces = Math.max(1, Math.floor(places / 2));
  const uploadQueue = Math.ceil(queue / 2);
  type Waiting = { number: number; timer: NodeJS.Timeout };
  const uploads = new Map<Turn, Waiting>();
  const others = new Map<Turn, Waiting>();
  const aside = new Set<Turn>();
  /** Slow, but in a place: only while `aside` is full. */
  const slow = new Set<Turn>();
  /** Slow turns that were told to give way, and have not left yet. */
  const ending = new Set<Turn>();
  const watchers: (() => void)[] = [];
  let running = 0;
  let uploading = 0;
  let entered = 0;

  const queueOf = (turn: Turn) => (turn.isUpload === true ? uploads : others);

  const settle = (): void => {
    if (running + aside.size + uploads.size + others.size === 0) for (const watcher of watchers.splice(0)) watcher();
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

  /** To be called when one place was given up. */
  const runNext = (): void => {
    const following = next();
    if (following === undefined) return settle();
    clearTimeout(queueOf(following).get(following)?.timer);
    queueOf(following).delete(following);
    run(following);
  };

  const givePlaceUp = (turn: Turn): void => {
    running--;
    if (turn.isUpload === true) uploading--;
  };

  const stepAside = (turn: Turn): void => {
    slow.delete(turn);
    aside.add(turn);
    givePlaceUp(turn);
    runNext();
  };

  /** Ends a slow turn where one holds a place that another waits for. */
  const makeRoom = (): void => {
    const wanted = others.size + (uploading < uploadPlaces ? uploads.size : 0);
    if (ending.size >= Math.min(wanted, slow.size)) return;
    let slowest: Turn | undefined;
    let longest = -1;
    for (const turns of [aside, slow])
      for (const turn of turns) {
        const time = turn.stalledFor?.() ?? 0;
        if (time <= longest || ending.has(turn)) continue;
        longest = time;
        slowest = turn;
      }
    if (slowest === undefined) return;
    ending.add(slowest);
    slowest.giveWay?.();
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
      makeRoom();
      return true;
    },
    withdraw,
    leave(turn) {
      ending.delete(turn);
      slow.delete(turn);
      if (!aside.delete(turn)) {
        givePlaceUp(turn);
        return runNext();
      }
      const [following] = slow;
      if (following === undefined) settle();
      else stepAside(following);
    },
    becomesSlow(turn) {
      if (aside.size < asidePlaces) return stepAside(turn);
      slow.add(turn);
      makeRoom();
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
    get slow() {
      return slow.size;
    },
    get aside() {
      return aside.size;
    },
  };
};

/** Runs in a place, for which it waits at most `patience` milliseconds. `noTurn`: it got none, and did not run. */
export const inTurn = async <T>(
  semaphore: Semaphore,
  patience: number,
  run: () => Promise<T>,
): Promise<T | "noTurn"> => {
  let turn: Turn | undefined;
  const hasTurn = await new Promise<boolean>((resolve) => {
    const waiting: Turn = {
      start() {
        clearTimeout(timer);
        resolve(true);
      },
      expire() {
        clearTimeout(timer);
        resolve(false);
      },
    };
    const timer = setTimeout(() => semaphore.withdraw(waiting) && resolve(false), Math.max(0, patience));
    turn = waiting;
    if (!semaphore.enter(waiting)) waiting.expire();
  });
  if (!hasTurn || turn === undefined) return "noTurn";
  try {
    return await run();
  } finally {
    semaphore.leave(turn);
  }
};
