/** Milliseconds that the lease lasts, from when the heartbeat was sent. */
export const LEASE_MS = 1500;
/** Invalidations that may be received between a heartbeat and its answer. */
const MAX_ANNOUNCED = 1000;

/** A term of the lease, with the epochs that were announced in it. It begins with Redis's first answer. */
export class Term {
  /** On the clock of `performance.now()`; `undefined` before the first answer. */
  #until: number | undefined;
  #epoch: string | undefined;
  /** The epoch of the last answer. Its message may arrive after the answer. */
  #answeredEpoch: string | undefined;
  readonly #announced = new Set<string>();

  /** From Redis's first answer on, every invalidation arrives. */
  get hasBegun(): boolean {
    return this.#until !== undefined;
  }

  get isRunning(): boolean {
    return this.#until !== undefined && performance.now() < this.#until;
  }

  /** The last epoch that was announced. */
  get epoch(): string | undefined {
    return this.#epoch;
  }

  /** An invalidation was received, which begins this epoch. */
  announced(epoch: string): void {
    this.#epoch = epoch;
    this.#remember(epoch);
  }

  /** Redis has answered a heartbeat with this epoch: too late, or in time, or an invalidation was missed before. */
  answered(sentAt: number, epoch: string | undefined): "in time" | "late" | "missed" {
    // The message of the last answer's epoch may have been on the way then. By now it must have arrived.
    if (this.#answeredEpoch !== undefined && !this.#announced.has(this.#answeredEpoch)) return "missed";
    // An expired term is not renewed: invalidations may have been missed.
    if (this.hasBegun && !this.isRunning) return "late";
    if (!this.hasBegun && epoch !== undefined) this.#remember(epoch);
    this.#epoch ??= epoch;
    this.#answeredEpoch = epoch;
    this.#until = sentAt + LEASE_MS;
    return "in time";
  }

  #remember(epoch: string): void {
    this.#announced.add(epoch);
    for (const oldest of this.#announced) {
      if (this.#announced.size <= MAX_ANNOUNCED) break;
      this.#announced.delete(oldest);
    }
  }
}
