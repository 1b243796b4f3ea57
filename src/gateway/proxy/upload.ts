import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/** Bytes a second that the client of a body must send at least: below that it holds a connection to the upstream for nothing. */
const MIN_RATE = 1024;

/** Bytes of a body that waits whole in its request before it is sent on; Node stops reading one that is not read at 64 KiB. */
const SMALL_BODY = 60 * 1024;

/** The bounds of an upload. */
type UploadSettings = {
  /** Gets every byte once, as it arrives. */
  onChunk: (chunk: Buffer) => void;
  /** Milliseconds for which the least rate is taken: a client that sends nothing is slow after twice as long at the latest. */
  period: number;
};

/**
 * A request's body as a stream that undici may destroy. Given the request itself, undici would take the client's connection down with
 * the upstream's, and an answer (a 413, our 502) with it. Destroyed, it lets the rest of the body run into the void instead. Emits `slow`
 * where the client sends less than `MIN_RATE` though it may send.
 */
export class Upload extends Readable {
  /** Its `Content-Length` is small: `whenWhole` may be used, and its client holds no connection. */
  readonly isSmall: boolean;
  readonly #req: IncomingMessage;
  readonly #onChunk: UploadSettings["onChunk"];
  readonly #period: number;
  #looking: NodeJS.Timeout | undefined;
  /** In this period. */
  #received = 0;
  #wasPaused = false;

  constructor(req: IncomingMessage, { onChunk, period }: UploadSettings) {
    super({ highWaterMark: 64 * 1024 });
    this.#req = req;
    this.#onChunk = onChunk;
    this.#period = period;
    this.isSmall = Number(req.headers["content-length"]) <= SMALL_BODY;
    // undici destroys it with an error that the relay gets anyway; without a listener it would end the process.
    this.on("error", () => {});
  }

  /** Calls `begin` when the whole body has come. Emits `slow` where that takes longer than a period. */
  whenWhole(begin: () => void): void {
    if (this.#req.complete) return begin();
    const late = setTimeout(() => this.emit("slow"), this.#period);
    this.#req.once("whole", begin).once("whole", () => clearTimeout(late));
    this.#req.once("close", () => clearTimeout(late));
  }

  override _read(): void {
    if (this.#looking === undefined) {
      this.#looking = setInterval(this.#look, this.#period);
      this.#req.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError);
      this.#req.once("close", () => clearInterval(this.#looking));
    }
    this.#req.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // The listeners stay: a client that breaks off while its body is drained must not throw, and drains at the least rate, too.
    if (!this.#req.readableEnded && !this.#req.destroyed) this._read();
    callback(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length;
    if (this.destroyed) return;
    this.#onChunk(chunk);
    if (this.push(chunk)) return;
    this.#wasPaused = true;
    this.#req.pause();
  };

  readonly #onEnd = (): void => {
    clearInterval(this.#looking);
    if (!this.destroyed) this.push(null);
  };

  // Without an error: undici then ends the request as aborted, which is what it is.
  readonly #onError = (): void => {
    this.destroy();
  };

  readonly #look = (): void => {
    const isSlow = !this.#wasPaused && this.#received < (MIN_RATE * this.#period) / 1000;
    this.#received = 0;
    this.#wasPaused = this.#req.isPaused();
    if (!isSlow) return;
    // The request has been answered: the rest of its body only holds the client's connection.
    if (this.destroyed) this.#req.destroy();
    else this.emit("slow");
  };
}
