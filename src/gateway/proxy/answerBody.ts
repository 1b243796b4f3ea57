import type { ServerResponse } from "node:http";
import type { Dispatcher } from "undici";

/** Bytes that may wait for a slow client. One read's worth waits for the end of the tick and must not count. */
export const MAX_WAITING_BYTES = 128 * 1024;

/**
 * Smaller chunks are joined, those that come at a time: each write takes memory of its own while
 * its client does not read.
 */
const SMALL = 1024;
/** Bytes of a rest that is written as text: Node joins text with the head, so that both leave in one write. */
const MAX_AS_TEXT = 8192;

/** The body of an answer, streamed to the client as fast as the client takes it. */
export class AnswerBody {
  readonly #res: ServerResponse;
  readonly #controller: Dispatcher.DispatchController;
  /** Bytes still to come; NaN where the length is unknown. */
  #remaining: number;
  #hasBegun = false;
  /** Parts that are not written yet; after this turn of the event loop there are none. */
  readonly #chunks: Buffer[] = [];

  /**
   * The head is in `res` already. `controller` pauses the upstream. `length`: bytes of the body;
   * NaN where it is unknown.
   */
  constructor(res: ServerResponse, controller: Dispatcher.DispatchController, length: number) {
    this.#res = res;
    this.#controller = controller;
    this.#remaining = length;
    // A body usually comes with the headers and is sent with them; where it does not, the client sees the headers now.
    queueMicrotask(() => {
      if (!this.#hasBegun && !res.writableEnded && !res.destroyed) res.flushHeaders();
    });
  }

  add(chunk: Buffer): void {
    this.#hasBegun = true;
    this.#remaining -= chunk.length;
    const count = this.#chunks.push(chunk);
    if (chunk.length >= SMALL || this.#remaining === 0) this.#write();
    else if (count === 1) queueMicrotask(() => this.#write());
  }

  /** The parts that are not written yet, as one. */
  #take(): Buffer | undefined {
    const bytes = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : this.#chunks[0];
    this.#chunks.length = 0;
    return bytes;
  }

  #write(): void {
    const res = this.#res;
    const bytes = res.destroyed ? undefined : this.#take();
    if (bytes === undefined) return;
    if (this.#remaining !== 0) {
      if (!res.write(bytes) && res.writableLength > MAX_WAITING_BYTES) this.#pause();
    } else if (bytes.length > MAX_AS_TEXT) res.end(bytes);
    else res.end(bytes.toString("latin1"), "latin1");
  }

  /**
   * Pauses the upstream until the client has taken all that waits. A client that takes nothing is cut off
   * (http/watchedConnections.ts).
   */
  #pause(): void {
    if (this.#controller.paused) return;
    this.#controller.pause();
    this.#res.once("drain", () => this.#controller.resume());
  }

  /** The upstream has sent all of it. */
  end(): void {
    const res = this.#res;
    if (!res.writableEnded) res.end(res.destroyed ? undefined : this.#take());
  }

  /** The upstream sends no more of it: the client gets what has come, and sees that the body is not whole. */
  cut(): void {
    const res = this.#res;
    const rest = this.#take();
    // Where the answer broke with its head, that is still here: a client is to see that there was an answer.
    if (!this.#hasBegun && !res.destroyed) res.flushHeaders();
    if (rest !== undefined && !res.destroyed) res.write(rest);
    // Without a length or chunks (an HTTP/1.0 client), only a reset shows that the body is not whole.
    const isFramed = res.chunkedEncoding || !Number.isNaN(this.#remaining);
    const { socket } = res;
    if (!isFramed && socket !== null && !("encrypted" in socket)) socket.resetAndDestroy();
    res.destroy();
  }
}
