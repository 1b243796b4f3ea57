import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { LeastRate } from "./clientSpeed.ts";
import { type Collection, TINY_BODY, type UploadMemory } from "./uploadMemory.ts";

/** Bytes of a body that are collected before it takes a connection to the upstream: all of a small one, the first of a larger one. */
export const SMALL_BODY = 64 * 1024;

/** The buffer of a body that is collected grows by so many bytes. */
const STEP = 4096;

/** The bounds of an upload. */
type UploadSettings = {
  /** Gets every byte once, as it arrives. */
  onChunk?: ((chunk: Buffer) => void) | undefined;
  /** Bytes a second that the client must send at least while it may send. */
  minRate: number;
  /** Milliseconds of silence at most. */
  silence: number;
  memory: UploadMemory;
  /** The address of the client. */
  client: string;
};

/** Hears how collecting a body went. */
export type UploadListener = {
  /** A connection may be taken: the body is there (`isWhole`), or its first `SMALL_BODY` bytes are. */
  uploadReady(isWhole: boolean): void;
  /** No more will be passed on: the client is too slow, or there is no memory to collect its body in. */
  uploadFailed(trouble: "slowClient" | "crowded"): void;
};

/**
 * A request's body as a stream that undici may destroy. Given the request itself, undici would take the client's connection down with
 * the upstream's, and an answer (a 413, our 502) with it. Destroyed, it lets the rest of the body run into the void instead.
 * It never ends before undici has begun to read: undici would turn a short chunked body into one with a length.
 */
export class Upload extends Readable implements Collection {
  readonly client: string;
  readonly #req: IncomingMessage;
  readonly #onChunk: UploadSettings["onChunk"];
  readonly #memory: UploadMemory;
  readonly #rate: LeastRate;
  #listener: UploadListener | undefined;
  #isListening = false;
  #isReady = false;
  /** The body is passed on, no longer collected. */
  #isPassing = false;
  #hasEnded = false;
  #collected: Buffer = nothing;
  #size = 0;

  constructor(req: IncomingMessage, { onChunk, minRate, silence, memory, client }: UploadSettings) {
    super({ highWaterMark: 64 * 1024 });
    this.client = client;
    this.#req = req;
    this.#onChunk = onChunk;
    this.#memory = memory;
    this.#rate = new LeastRate({ rate: minRate, most: silence }, this.#onSlow);
    // undici destroys it with an error that the relay gets anyway; without a listener it would end the process.
    this.on("error", () => {});
  }

  /** Begins to take the body. */
  collect(listener: UploadListener): void {
    this.#listener = listener;
    this.#resume();
  }

  get credit(): number | undefined {
    return this.#isReady ? undefined : this.#rate.credit;
  }

  giveUp(): void {
    this.#listener?.uploadFailed("crowded");
  }

  override _read(): void {
    if (this.#isPassing) {
      if (!this.#hasEnded) this.#resume();
      return;
    }
    this.#isPassing = true;
    const wantsMore = this.#size === 0 || this.push(this.#collected.subarray(0, this.#size));
    this.#release();
    // Later: undici looks at the stream once more before it writes the request's head.
    if (this.#hasEnded) setImmediate(this.#end);
    else if (wantsMore) this.#resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#release();
    // The listeners stay: a client that breaks off while its body is drained must not throw, and drains at the least rate, too.
    if (!this.#hasEnded) this.#resume();
    callback(error);
  }

  #resume(): void {
    if (!this.#isListening) {
      this.#isListening = true;
      this.#req.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError);
      this.#req.once("close", () => this.#rate.stop());
    }
    this.#rate.resume();
    this.#req.resume();
  }

  #pause(): void {
    this.#rate.pause();
    this.#req.pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#rate.sent(chunk.length);
    if (this.destroyed) return;
    this.#onChunk?.(chunk);
    if (this.#isPassing) {
      if (!this.push(chunk)) this.#pause();
      return;
    }
    if (!this.#collect(chunk)) return this.giveUp();
    if (this.#size < SMALL_BODY) return;
    this.#pause();
    this.#tellReady(false);
  };

  /** Once: a pause does not hold up the end of a body whose last bytes were read from the request's buffer. */
  #tellReady(isWhole: boolean): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#listener?.uploadReady(isWhole);
  }

  /** Into one buffer: a body that comes byte by byte must not cost a hundred times its size. */
  #collect(chunk: Buffer): boolean {
    const size = this.#size + chunk.length;
    if (size > this.#collected.length) {
      const room = this.#size === 0 ? size : Math.ceil(size / STEP) * STEP;
      if (room > TINY_BODY && !this.#memory.hold(this, room)) return false;
      const grown = this.#size === 0 ? chunk : Buffer.allocUnsafeSlow(room);
      this.#collected.copy(grown, 0, 0, this.#size);
      this.#collected = grown;
    }
    if (this.#size > 0) chunk.copy(this.#collected, this.#size);
    this.#size = size;
    return true;
  }

  #release(): void {
    this.#memory.release(this);
    this.#collected = nothing;
    this.#size = 0;
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    this.#rate.stop();
    if (this.#isPassing) this.#end();
    else if (!this.destroyed) this.#tellReady(true);
  };

  readonly #end = (): void => {
    if (!this.destroyed) this.push(null);
  };

  readonly #onSlow = (): void => {
    // The request has been answered: the rest of its body only holds the client's connection.
    if (this.destroyed) this.#req.destroy();
    else this.#listener?.uploadFailed("slowClient");
  };

  // Without an error: undici then gives the request up as aborted, which is what it is.
  readonly #onError = (): void => {
    this.destroy();
  };
}

const nothing = Buffer.alloc(0);
