import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Invalidation } from "../../src/gateway/index.ts";
import { withTimeout } from "../../src/operation/index.ts";
import { LEASE_MS } from "./term.ts";

/** An invalidation on its way: Redis confirms it, then each gateway acknowledges it. */
type Delivery = {
  drop: Invalidation;
  /** When it began. */
  since: number;
  isRepeated: boolean;
  confirmed: PromiseWithResolvers<void>;
  acknowledged: PromiseWithResolvers<void>;
};

const newDelivery = (drop: Invalidation, since = performance.now()): Delivery => ({
  drop,
  since,
  isRepeated: false,
  confirmed: Promise.withResolvers(),
  acknowledged: Promise.withResolvers(),
});

/**
 * Sends an invalidation, which begins this epoch. Resolves when Redis has it, with how many gateways receive it.
 */
type Announce = (drop: Invalidation, epoch: string) => Promise<number>;

/** More pending invalidations become a single invalidation of everything. */
const MAX_PENDING = 1000;

/** The invalidations of this gateway on their way to the others. */
export class Deliveries {
  readonly #announce: Announce;
  readonly #timeout: number;
  /** Invalidations that Redis has refused, or not confirmed in time, in order: with the first of them a gap begins. */
  #pending: Delivery[] = [];
  /** Start of the first invalidation that another gateway did not acknowledge in time; none was acknowledged since. */
  #unacknowledgedSince: number | undefined;
  /** Called for each gateway that has acknowledged the invalidation of an epoch. */
  readonly #onAcknowledged = new LRUCache<string, () => void>({ max: MAX_PENDING });

  /** `timeout`: the least milliseconds for which an invalidation waits for the other gateways. */
  constructor(announce: Announce, timeout: number) {
    this.#announce = announce;
    this.#timeout = timeout;
  }

  /** True if invalidations wait until Redis answers again. */
  arePending(): boolean {
    return this.#pending.length > 0;
  }

  /**
   * Resolves when all gateways have acknowledged it, or when the lease of those that have not is over. Only the first
   * invalidations of a gap wait for the end of leases.
   */
  async invalidate(drop: Invalidation): Promise<"done" | "unacknowledged" | "failed"> {
    const delivery = newDelivery(drop);
    const { since, confirmed, acknowledged } = delivery;
    const gapSince = this.#pending[0]?.since ?? since;
    if (this.arePending()) this.#repeat(delivery);
    else this.#send(delivery).catch(() => this.#repeat(delivery));
    if ((await withTimeout(confirmed.promise, leaseLeft(gapSince))) === "late") {
      this.#repeat(delivery);
      return "failed";
    }
    const left = Math.max(this.#timeout, leaseLeft(this.#unacknowledgedSince ?? since));
    if ((await withTimeout(acknowledged.promise, left)) !== "late") return "done";
    this.#unacknowledgedSince ??= since;
    return "unacknowledged";
  }

  async #send(delivery: Delivery): Promise<void> {
    const epoch = randomUUID();
    let [count, receivers] = [0, Infinity];
    const acknowledge = (acknowledgements: number): void => {
      count += acknowledgements;
      if (count < receivers) return;
      this.#onAcknowledged.delete(epoch);
      this.#unacknowledgedSince = undefined;
      delivery.acknowledged.resolve();
    };
    this.#onAcknowledged.set(epoch, () => acknowledge(1));
    receivers = await this.#announce(delivery.drop, epoch);
    delivery.confirmed.resolve();
    // Some gateways may have acknowledged it already.
    acknowledge(0);
  }

  /** A gateway has acknowledged the invalidation of an epoch. False if nothing waits for this epoch. */
  acknowledged(epoch: string): boolean {
    const acknowledge = this.#onAcknowledged.get(epoch);
    acknowledge?.();
    return acknowledge !== undefined;
  }

  /** Sends it again with each `flush` until Redis has confirmed it. A repetition does no harm. */
  #repeat(delivery: Delivery): void {
    if (delivery.isRepeated) return;
    delivery.isRepeated = true;
    this.#pending.push(delivery);
    if (this.#pending.length <= MAX_PENDING) return;
    // The writes behind them may still be running.
    const hold = Math.max(...this.#pending.map(({ drop }) => drop.hold ?? 0));
    this.#pending = [newDelivery({ all: true, hold }, this.#pending[0]?.since)];
  }

  /**
   * Sends the pending invalidations.
   *
   * @throws If Redis does not confirm one; it and those behind it stay pending.
   */
  async flush(): Promise<void> {
    for (let [delivery] = this.#pending; delivery; [delivery] = this.#pending) {
      await this.#send(delivery);
      // Meanwhile all of them may have been joined into a single invalidation.
      if (this.#pending[0] === delivery) this.#pending.shift();
    }
  }
}

/** Milliseconds until each gateway that has heard nothing since this moment has lost its lease. */
const leaseLeft = (since: number): number => Math.max(0, since + LEASE_MS - performance.now());
