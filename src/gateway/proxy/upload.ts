import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/**
 * Bytes a second that the client of a body must send at least: below that it holds a connection to
 * the upstream for nothing.
 */
const MIN_RATE = 1024;

/**
 * Bytes of a body that waits whole in its request before it is sent on; Node stops reading one
 * that is not read at 64 KiB.
 */
const SMALL_BODY = 60 * 1024;

/** The bounds of an upload. */
type UploadSettings = {
  /** Gets every byte once, as it arrives. */
  onChunk: (chunk: Buffer) => void;
  /**
   * Milliseconds for which the least rate is taken: a client that sends nothing is slow after twice as long at the
   * latest. An upstream that takes nothing for as long has stalled.
   */
  period: number;
};

/**
 * A request's body as a stream that undici may destroy. Given the request itself, undici would take the client's
 * connection down with the upstream's, and an answer (a 413, our 502) with it. Destroyed, it discards the rest of
 * the body instead. Emits `slow` where the client sends less than `MIN_RATE` though it may send, and `stalled` where
 * the upstream takes nothing.
 */
export class Upload extends Readable {
  /** Its `Content-Length` is small: `whenWhole` may be used, and its client holds no connection. */
  readonly isSmall: boolean;
  /** Its client was too slow, and `slow` was emitted. */
  isSlow = false;
  readonly #req: IncomingMessage;
  readonly #onChunk: UploadSettings["onChunk"];
  readonly #period: number;
  #looking: NodeJS.Timeout | undefined;
  /** Runs while the upstream is sent the body. */
  #sending: NodeJS.Timeout | undefined;
  /** Bytes of this period. */
  #received = 0;
  #wasPaused = false;

  constructor(req: IncomingMessage, { onChunk, period }: UploadSettings) {
    super({ highWaterMark: 64 * 1024 });
    this.#req = req;
    this.#onChunk = onChunk;
    this.#period = period;
    this.isSmall = Number(req.headers["content-length"]) <= SMALL_BODY;
    // undici destroys it with an error that its handler gets anyway; without a listener it would end the process.
    this.on("error", () => {});
  }

  /** Calls `begin` when the whole body has come. Emits `slow` where that takes longer than a period. */
  whenWhole(begin: () => void): void {
    if (this.#req.complete) return begin();
    const late = setTimeout(() => this.#emitSlow(), this.#period);
    this.#req.once("whole", begin).once("whole", () => clearTimeout(late));
    this.#req.once("close", () => clearTimeout(late));
  }

  /** undici begins to send it. */
  onSending(): void {
    this.#sending = setTimeout(() => this.#onSilence(), this.#period);
  }

  /** The upstream has taken a part. */
  onPartSent(): void {
    this.#sending?.refresh();
  }

  /** The upstream is sent no more of it. */
  onSent(): void {
    clearTimeout(this.#sending);
    this.#sending = undefined;
  }

  #onSilence(): void {
    // A body that is paused or has come waits for the upstream; any other waits for the client, who has a least rate.
    if (this.#req.isPaused() || this.#req.complete) this.emit("stalled");
    else this.#sending?.refresh();
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
    this.onSent();
    // The listeners stay: a client that breaks off while its body is drained must not throw, and
    // drains at the least rate, too.
    if (!this.#req.readableEnded && !this.#req.destroyed) this._read();
    callback(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length;
    if (this.destroyed) return;
    try {
      this.#onChunk(chunk);
    } catch (error) {
      // undici then ends the request with it.
      this.destroy(error as Error);
      return;
    }
    if (this.push(chunk)) return;
    this.#wasPaused = true;
    this.#req.pause();
  };

  readonly #onEnd = (): void => {
    clearInterval(this.#looking);
    if (!this.destroyed) this.push(null);
  };

  // Without an error: undici then ends the request as aborted.
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
    else this.#emitSlow();
  };

  #emitSlow(): void {
    this.isSlow = true;
    this.emit("slow");
  }
}
