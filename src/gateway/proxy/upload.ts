import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/**
 * The minimum rate of an upload, in bytes a second: a slower client would hold a connection to the upstream for too
 * long.
 */
const MIN_RATE = 1024;

/**
 * Bodies up to this number of bytes wait in their request until they have come whole. Node stops reading an unread body
 * at 64 KiB.
 */
const SMALL_BODY = 60 * 1024;

/** The bounds of an upload. */
type UploadSettings = {
  /** Gets every byte once, as it arrives. */
  onChunk: (chunk: Buffer) => void;
  /**
   * Milliseconds over which the minimum rate is measured: a client that sends nothing is slow after at most twice this
   * time. An upstream that takes nothing for this time has stalled.
   */
  period: number;
};

/**
 * A request's body as a stream that undici may destroy. If undici got the request itself, a failure of the upstream's
 * connection would also close the client's connection, and an answer (a 413, our 502) would be lost. This stream
 * instead discards the rest of the body when it is destroyed. It emits `slow` if the client sends less than `MIN_RATE`
 * although it may send, and `stalled` if the upstream takes nothing.
 */
export class Upload extends Readable {
  /** The `Content-Length` is small: `whenWhole` may be used, and a slow client holds no connection to the upstream. */
  readonly isSmall: boolean;
  /** The client was too slow, and `slow` was emitted. */
  isSlow = false;
  readonly #req: IncomingMessage;
  readonly #onChunk: UploadSettings["onChunk"];
  readonly #period: number;
  #looking: NodeJS.Timeout | undefined;
  /** The timer that runs while the body is sent to the upstream. */
  #sending: NodeJS.Timeout | undefined;
  /** Bytes received in this period. */
  #received = 0;
  #wasPaused = false;

  constructor(req: IncomingMessage, { onChunk, period }: UploadSettings) {
    super({ highWaterMark: 64 * 1024 });
    this.#req = req;
    this.#onChunk = onChunk;
    this.#period = period;
    this.isSmall = Number(req.headers["content-length"]) <= SMALL_BODY;
    // undici destroys the stream with an error that its handler also gets. Without a listener the process would end.
    this.on("error", () => {});
  }

  /** Calls `begin` when the whole body has come. Emits `slow` if that takes longer than a period. */
  whenWhole(begin: () => void): void {
    if (this.#req.complete) return begin();
    const late = setTimeout(() => this.#emitSlow(), this.#period);
    this.#req.once("whole", begin).once("whole", () => clearTimeout(late));
    this.#req.once("close", () => clearTimeout(late));
  }

  /** Called when undici begins to send the body. */
  onSending(): void {
    this.#sending = setTimeout(() => this.#onSilence(), this.#period);
  }

  /** Called when the upstream has taken a chunk. */
  onPartSent(): void {
    this.#sending?.refresh();
  }

  /** Called when no more of the body is sent to the upstream. */
  onSent(): void {
    clearTimeout(this.#sending);
    this.#sending = undefined;
  }

  #onSilence(): void {
    // A body that is paused or complete waits for the upstream. Any other waits for the client, which has `MIN_RATE`.
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
    // The listeners stay while the rest of the body is drained: a client that breaks off must not throw, and the
    // minimum rate still applies.
    if (!this.#req.readableEnded && !this.#req.destroyed) this._read();
    callback(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length;
    if (this.destroyed) return;
    try {
      this.#onChunk(chunk);
    } catch (error) {
      // undici then ends the request with this error.
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

  // The stream is destroyed without an error: undici then ends the request as aborted.
  readonly #onError = (): void => {
    this.destroy();
  };

  readonly #look = (): void => {
    const isSlow = !this.#wasPaused && this.#received < (MIN_RATE * this.#period) / 1000;
    this.#received = 0;
    this.#wasPaused = this.#req.isPaused();
    if (!isSlow) return;
    // If the request has been answered, the rest of its body only holds the client's connection.
    if (this.destroyed) this.#req.destroy();
    else this.#emitSlow();
  };

  #emitSlow(): void {
    this.isSlow = true;
    this.emit("slow");
  }
}
