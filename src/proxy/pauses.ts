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
