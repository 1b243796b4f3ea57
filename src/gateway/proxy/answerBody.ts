import type { ServerResponse } from "node:http";
import type { Dispatcher } from "undici";

/** Bytes that may wait for a slow client: more than a single read has, which always waits for the end of the tick. */
export const MAX_WAITING_BYTES = 128 * 1024;

/**
 * Smaller chunks that come in the same turn of the event loop are joined: each write takes extra memory while its
 * client does not read.
 */
const SMALL = 1024;
/** The last bytes are written as text up to this length: Node joins text with the head, and sends both in one write. */
const MAX_AS_TEXT = 8192;

/** The body of an answer, streamed to the client as fast as the client takes it. */
export class AnswerBody {
  readonly #res: ServerResponse;
  readonly #controller: Dispatcher.DispatchController;
  /** Bytes still to come; NaN if the length is unknown. */
  #remaining: number;
  #hasBegun = false;
  /** Chunks that are not written yet: they are written at the end of this turn of the event loop. */
  readonly #chunks: Buffer[] = [];

  /**
   * Opens the body of an answer whose head is in `res` already. `controller` pauses the upstream. `length`: bytes of
   * the body; NaN if unknown.
   */
  constructor(res: ServerResponse, controller: Dispatcher.DispatchController, length: number) {
    this.#res = res;
    this.#controller = controller;
    this.#remaining = length;
    // A body usually comes with the headers and is sent with them. If it comes later, the client gets the headers now.
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

  /** Takes the chunks that are not written yet, joined. */
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
   * Pauses the upstream until the client has taken all waiting bytes. A client that takes no bytes is disconnected by
   * http/watchedConnections.ts.
   */
  #pause(): void {
    if (this.#controller.paused) return;
    this.#controller.pause();
    this.#res.once("drain", () => this.#controller.resume());
  }

  /** Ends the body: the upstream has sent all of it. */
  end(): void {
    const res = this.#res;
    if (!res.writableEnded) res.end(res.destroyed ? undefined : this.#take());
  }

  /** Cuts the body: the upstream sends no more. The client gets the bytes so far, and sees that the body is cut. */
  cut(): void {
    const res = this.#res;
    const rest = this.#take();
    // If the answer broke off after its head, the head is still unsent: the client must see that there was an answer.
    if (!this.#hasBegun && !res.destroyed) res.flushHeaders();
    if (rest !== undefined && !res.destroyed) res.write(rest);
    // Without a length or chunks (an HTTP/1.0 client), only a reset shows that the body is cut.
    const isFramed = res.chunkedEncoding || !Number.isNaN(this.#remaining);
    const { socket } = res;
    if (!isFramed && socket !== null && !("encrypted" in socket)) socket.resetAndDestroy();
    res.destroy();
  }
}
