import { randomUUID } from "node:crypto";
import type { Invalidation, OpenSecondTier } from "../../src/gateway/index.ts";
import { connectRedis } from "../../libraries/stores/redis.ts";
import { Deliveries } from "./deliveries.ts";
import { readMessage, writeMessage } from "./invalidationMessage.ts";
import { type Heartbeat, ReplicationLease, type SharedTierEvent } from "./replicationLease.ts";
import { channelsOf, EPOCH, EPOCHS, EVERYTHING, namesOf, scripts } from "./scripts.ts";

/** The settings of the replication between the gateways on one Redis. */
export type ReplicationSettings = {
  url: string;
  /** The most milliseconds that a request waits for Redis. */
  timeout: number;
  /** The entries of this build are invalidated by key. */
  build: string;
  /** Milliseconds; see `ReplicationLease`. */
  waitForOthers?: number | undefined;
  onEvent: (event: SharedTierEvent, about: Record<string, unknown>) => void;
};

/** Sends invalidations between the gateways on one Redis. It connects in the background. */
export class Replication {
  readonly connection: ReturnType<typeof connectRedis>;
  readonly deliveries: Deliveries;
  /** Held while all invalidations until a moment ago have arrived here. */
  readonly lease: ReplicationLease;
  readonly #id = randomUUID();
  readonly #owner: Parameters<OpenSecondTier>[0];
  readonly #channels: ReturnType<typeof channelsOf>;

  constructor(settings: ReplicationSettings, owner: Parameters<OpenSecondTier>[0]) {
    const { url, timeout, onEvent, build, waitForOthers } = settings;
    this.#owner = owner;
    this.#channels = channelsOf(url);
    const { invalidations, calls, acknowledgementsOf } = this.#channels;
    this.connection = connectRedis({
      url,
      channels: [invalidations, calls, acknowledgementsOf(this.#id)],
      onListening: () => this.lease.beat(),
      onDeaf: () => this.lease.lose("the subscription broke"),
      onError: (error) => this.lease.failed(error),
      onSetAside: (key) => onEvent("redis_key_set_aside", { key }),
      onMessage: (text, channel) => this.#onMessage(text, channel),
    });
    this.deliveries = new Deliveries((drop, epoch) => this.#announce(drop, epoch, namesOf(build, drop)), timeout);
    this.lease = new ReplicationLease({
      isListening: () => this.connection.isListening(),
      ask: (epochs) => this.#ask(epochs),
      flush: () => this.deliveries.flush(),
      callOthers: () => this.connection.publish(calls, this.#id),
      distrust: () => owner.onLost(),
      empty: async (epochs) => void (await this.#announce({}, randomUUID(), [EVERYTHING], epochs)),
      renew: () => this.connection.renew(),
      onEvent,
      waitForOthers,
    });
  }

  /**
   * Deletes these names in Redis, and sends the invalidation to all gateways; resolves with how many receive it.
   * `known`: epochs that Redis knows from then on.
   */
  async #announce(
    drop: Invalidation,
    epoch: string,
    names: readonly string[],
    known: readonly string[] = [],
  ): Promise<number> {
    const message = writeMessage({ from: this.#id, epoch, drop });
    const about = [this.#channels.invalidations, message, epoch, ...known];
    const receivers = await this.connection.run(scripts.invalidate, [EPOCH, EPOCHS, ...names], about);
    this.lease.confirmed(epoch);
    return Number(receivers);
  }

  /** Sends a heartbeat. */
  async #ask(epochs: readonly string[]): Promise<Heartbeat> {
    const about = [randomUUID(), this.#channels.allAcknowledgements, ...epochs];
    const reply = await this.connection.run(scripts.heartbeat, [EPOCH, EPOCHS], about);
    const [epoch, listeners, unknown] = reply as [Buffer | null, Buffer[], Buffer[]];
    const listening = listeners.map((channel) => this.#channels.gatewayOf(String(channel)));
    return {
      epoch: epoch?.toString(),
      unknown: unknown.map(String),
      others: listening.filter((id) => id !== this.#id),
    };
  }

  #onMessage(text: string, channel: string): void {
    if (channel === this.#channels.invalidations) this.#onInvalidation(text);
    else if (channel === this.#channels.calls) this.#onCall(text);
    // An epoch, or the id of a gateway that answers a call.
    else if (!this.deliveries.acknowledged(text)) this.lease.answered(text);
  }

  #onInvalidation(text: string): void {
    const message = readMessage(text);
    if (message === undefined) return this.lease.miss("a message could not be read");
    const { from, epoch, drop } = message;
    this.lease.announced(epoch);
    if (from === this.#id) return void this.deliveries.acknowledged(epoch);
    if (Object.keys(drop).length > 0) this.#owner.onInvalidation(drop);
    else this.#owner.onLost();
    this.connection.publish(this.#channels.acknowledgementsOf(from), epoch);
  }

  /** Another gateway waits for the invalidations of this gateway. */
  #onCall(gateway: string): void {
    if (gateway === this.#id || !this.lease.called(gateway) || this.deliveries.arePending()) return;
    this.connection.publish(this.#channels.acknowledgementsOf(gateway), this.#id);
  }

  close(): void {
    this.lease.close();
    this.connection.close();
  }
}
