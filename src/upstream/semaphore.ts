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
export const openSemaphore = (settings: SemaphoreSettings): Semaphore => new TwoQueues(settings);

type Waiting = { number: number; timer: NodeJS.Timeout };

class TwoQueues implements Semaphore {
  readonly #places: number;
  readonly #queue: number;
  readonly #waitTimeout: number;
  readonly #asidePlaces: number;
  readonly #uploadPlaces: number;
  readonly #uploads = new Map<Turn, Waiting>();
  readonly #others = new Map<Turn, Waiting>();
  readonly #aside = new Set<Turn>();
  /** Slow, but in a place: only while `aside` is full. */
  readonly #slow = new Set<Turn>();
  /** Slow turns that were told to give way, and have not left yet. */
  readonly #ending = new Set<Turn>();
  readonly #watchers: (() => void)[] = [];
  #running = 0;
  #uploading = 0;
  #entered = 0;

  constructor({ places, queue, waitTimeout = WAIT_TIMEOUT, asidePlaces = 0 }: SemaphoreSettings) {
    this.#places = places;
    this.#queue = queue;
    this.#waitTimeout = waitTimeout;
    this.#asidePlaces = asidePlaces;
    this.#uploadPlaces = Math.max(1, Math.floor(places / 2));
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#uploads.size + this.#others.size;
  }

  get slow(): number {
    return this.#slow.size;
  }

  get aside(): number {
    return this.#aside.size;
  }

  enter(turn: Turn): boolean {
    const isUpload = turn.isUpload === true;
    if (this.#running < this.#places && (!isUpload || this.#uploading < this.#uploadPlaces)) {
      this.#run(turn);
      return true;
    }
    // Uploads wait for places that other requests do not need, so they must not use up the others' queue.
    if (isUpload ? this.#uploads.size >= Math.ceil(this.#queue / 2) : this.#others.size >= this.#queue) return false;
    const timer = setTimeout(() => this.withdraw(turn) && turn.expire(), this.#waitTimeout);
    this.#queueOf(turn).set(turn, { number: this.#entered++, timer });
    this.#makeRoom();
    return true;
  }

  withdraw(turn: Turn): boolean {
    const waiting = this.#queueOf(turn).get(turn);
    if (waiting === undefined) return false;
    clearTimeout(waiting.timer);
    this.#queueOf(turn).delete(turn);
    this.#settle();
    return true;
  }

  leave(turn: Turn): void {
    this.#ending.delete(turn);
    this.#slow.delete(turn);
    if (!this.#aside.delete(turn)) {
      this.#givePlaceUp(turn);
      return this.#runNext();
    }
    const [following] = this.#slow;
    if (following === undefined) this.#settle();
    else this.#stepAside(following);
  }

  becomesSlow(turn: Turn): void {
    if (this.#aside.size < this.#asidePlaces) return this.#stepAside(turn);
    this.#slow.add(turn);
    this.#makeRoom();
  }

  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push(resolve);
      this.#settle();
    });
  }

  #queueOf(turn: Turn): Map<Turn, Waiting> {
    return turn.isUpload === true ? this.#uploads : this.#others;
  }

  #settle(): void {
    if (this.#running + this.#aside.size + this.waiting === 0)
      for (const watcher of this.#watchers.splice(0)) watcher();
  }

  #run(turn: Turn): void {
    this.#running++;
    if (turn.isUpload === true) this.#uploading++;
    turn.start();
  }

  #givePlaceUp(turn: Turn): void {
    this.#running--;
    if (turn.isUpload === true) this.#uploading--;
  }

  /** To be called when one place was given up. */
  #runNext(): void {
    const following = this.#next();
    if (following === undefined) return this.#settle();
    clearTimeout(this.#queueOf(following).get(following)?.timer);
    this.#queueOf(following).delete(following);
    this.#run(following);
  }

  /** The turn that has waited longest of those that may run. */
  #next(): Turn | undefined {
    const [other] = this.#others;
    const [upload] = this.#uploading < this.#uploadPlaces ? this.#uploads : [];
    if (other === undefined || upload === undefined) return (other ?? upload)?.[0];
    return other[1].number < upload[1].number ? other[0] : upload[0];
  }

  #stepAside(turn: Turn): void {
    this.#slow.delete(turn);
    this.#aside.add(turn);
    this.#givePlaceUp(turn);
    this.#runNext();
  }

  /** Ends a slow turn where one holds a place that another waits for. */
  #makeRoom(): void {
    const wanted = this.#others.size + (this.#uploading < this.#uploadPlaces ? this.#uploads.size : 0);
    if (this.#ending.size >= Math.min(wanted, this.#slow.size)) return;
    let slowest: Turn | undefined;
    let longest = -1;
    for (const turns of [this.#aside, this.#slow])
      for (const turn of turns) {
        const time = turn.stalledFor?.() ?? 0;
        if (time <= longest || this.#ending.has(turn)) continue;
        longest = time;
        slowest = turn;
      }
    if (slowest === undefined) return;
    this.#ending.add(slowest);
    slowest.giveWay?.();
  }
}
