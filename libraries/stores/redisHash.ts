import type { RunScript } from "./redis.ts";
import { type OnStoreEvent, storeIn, type StoreInPlace, type StoreSettings } from "./keyValueStore.ts";

/** The number is that of the format. Each feature has a hash of JSON texts. */
export const PREFIX = "catalog-gateway:1:state:";
/** The field that has another text after each change: the gateway that made it, and the number of its write. */
const VERSION = "#";

/** KEYS: a feature's hash. */
const scripts = {
  /** ARGV: the known `#`. -> nothing if it is still so, else fields and texts alternating */
  read: `
    if (redis.call('HGET', KEYS[1], '#') or '') == ARGV[1] then return false end
    return redis.call('HGETALL', KEYS[1])`,

  /**
   * ARGV: the known `#`, key, new text or '', new `#`, channel, message. -> nothing if it is stored, else fields and
   * texts alternating
   */
  write: `
    if (redis.call('HGET', KEYS[1], '#') or '') ~= ARGV[1] then return redis.call('HGETALL', KEYS[1]) end
    if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[2])
    else redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) end
    redis.call('HSET', KEYS[1], '#', ARGV[4])
    redis.call('PUBLISH', ARGV[5], ARGV[6])
    return false`,
};

/** The parts that the hashes of a gateway share. */
type HashParts = {
  /** The id of the gateway. */
  gateway: string;
  /** The channel of changes. */
  channel: string;
  run: RunScript;
  onEvent: OnStoreEvent;
  report: (error: Error) => void;
  isClosed: () => boolean;
};

/** The hash of a feature in Redis, and its copy in memory: the store. */
export class RedisHash<T> {
  readonly key: string;
  readonly store: StoreInPlace<T>;
  readonly #parts: HashParts;
  readonly #feature: string;
  /** The `#` of the hash, as it was read or written last; "" if it has no `#`. */
  #version = "";
  /** The number of writes sent from here, and the number of the last confirmed write. */
  #sent = 0;
  #confirmed = 0;

  /** The store is empty until `take`. */
  constructor(parts: HashParts, settings: StoreSettings<T>) {
    this.#parts = parts;
    this.#feature = settings.feature;
    this.key = PREFIX + settings.feature;
    this.store = storeIn<T>((field, text) => this.#write(field, text), settings, parts.onEvent);
  }

  async #write(field: string, text = ""): Promise<boolean> {
    const { gateway, channel, run, report, isClosed } = this.#parts;
    if (isClosed()) throw new Error("the store is closed");
    const number = ++this.#sent;
    const next = `${gateway}:${number}`;
    const writing = run(scripts.write, [this.key], [this.#version, field, text, next, channel, gateway]);
    writing.catch(report);
    if (await this.take(await writing)) return false;
    [this.#version, this.#confirmed] = [next, number];
    return true;
  }

  /** Reads the fields into the store if they have changed. */
  readChanges(): Promise<void> {
    return this.store.inTurn(async () => void (await this.take(await this.read())));
  }

  /** The reply of the script `read`. */
  read(): Promise<unknown> {
    return this.#parts.run(scripts.read, [this.key], [this.#version]);
  }

  /** Takes the fields that a script returns, or undoes a refused write; false if it returns no fields. */
  async take(reply: unknown, isStart = false): Promise<boolean> {
    if (!Array.isArray(reply)) return false;
    const fields = new Map<string, string>();
    for (let i = 0; i < reply.length; i += 2) fields.set(String(reply[i]), String(reply[i + 1]));
    const before = this.#version;
    this.#version = fields.get(VERSION) ?? "";
    fields.delete(VERSION);
    const [gateway, number] = this.#version.split(":");
    // The last change is from here, and was refused to its caller.
    if (gateway === this.#parts.gateway && Number(number) > this.#confirmed) {
      await this.store.rollBack(fields).catch((error: Error) => {
        // The next read tries again.
        this.#version = before;
        throw error;
      });
      return true;
    }
    if (before !== "" && this.#version === "") this.#parts.onEvent("store_emptied", { feature: this.#feature });
    this.store.take(fields, isStart);
    return true;
  }
}
