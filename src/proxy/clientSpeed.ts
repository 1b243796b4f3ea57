/** Milliseconds in all for which a client may keep its answer waiting before it counts as slow. */
const SLOW = 500;

/** How long the client of one answer has kept it waiting. */
export class Pauses {
  readonly #onSlow: () => void;
  #left = SLOW;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `onSlow` is called once, when all pauses together have taken `SLOW` ms. */
  constructor(onSlow: () => void) {
    this.#onSlow = onSlow;
  }

  begin(): void {
    this.#since = performance.now();
    if (this.#left > 0) this.#timer = setTimeout(() => this.#spend(this.#left), Math.ceil(this.#left));
  }

  end(): void {
    const { current } = this;
    this.#since = undefined;
    this.#spend(current);
  }

  stop(): void {
    this.#since = undefined;
    clearTimeout(this.#timer);
  }

  /** Milliseconds of the pause that lasts; 0 where there is none. */
  get current(): number {
    return this.#since === undefined ? 0 : performance.now() - this.#since;
  }

  #spend(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (this.#left <= 0) return;
    this.#left -= milliseconds;
    if (this.#left <= 0) this.#onSlow();
  }
}

/**
 * Holds a client to a least rate. It begins with `most` ms of credit. A byte earns `1000 / rate` ms, never beyond `most`; every millisecond
 * in which the client may send costs one. So the credit ends after `most` ms of silence, or some time below `rate`, however fast it began.
 */
export class LeastRate {
  readonly #most: number;
  readonly #earned: number;
  readonly #onSlow: () => void;
  #credit: number;
  #since = 0;
  #isRunning = false;
  #timer: NodeJS.Timeout | undefined;

  /** `rate` in bytes a second; `onSlow` is called once, when no credit is left. */
  constructor({ rate, most }: { rate: number; most: number }, onSlow: () => void) {
    this.#most = most;
    this.#earned = 1000 / rate;
    this.#onSlow = onSlow;
    this.#credit = most;
  }

  /** From now on the client may send. */
  resume(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#since = performance.now();
    this.#arm();
  }

  /** The client is kept from sending: time costs nothing. */
  pause(): void {
    this.#settle();
    this.#isRunning = false;
  }

  /** Milliseconds of silence that are left. */
  get credit(): number {
    this.#settle();
    return this.#credit;
  }

  sent(bytes: number): void {
    this.#settle();
    this.#credit = Math.min(this.#most, this.#credit + bytes * this.#earned);
  }

  stop(): void {
    this.#isRunning = false;
    clearTimeout(this.#timer);
  }

  #settle(): void {
    if (!this.#isRunning) return;
    const now = performance.now();
    this.#credit -= now - this.#since;
    this.#since = now;
  }

  /** One timer, set again only when it fires: bytes come far more often. */
  #arm(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        if (!this.#isRunning) return;
        this.#settle();
        if (this.#credit > 0) return this.#arm();
        this.#isRunning = false;
        this.#onSlow();
      },
      Math.max(1, Math.ceil(this.#credit)),
    );
  }
}
