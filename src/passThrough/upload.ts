import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/** Whether a request has a body to send on. */
export const hasBody = (req: IncomingMessage): boolean => {
  const length = req.headers["content-length"];
  return req.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
};

/**
 * A request's body as a stream that undici may destroy. Given the request itself, undici would take the client's connection down with
 * the upstream's, and an answer (a 413, our 502) with it. Destroyed, it lets the rest of the body run into the void instead.
 * It reads nothing before undici does and so never ends early: undici would turn a short chunked body into one with a length.
 */
export class Upload extends Readable {
  readonly #req: IncomingMessage;
  readonly #onChunk: ((chunk: Buffer) => void) | undefined;
  #listening = false;

  constructor(req: IncomingMessage, onChunk?: (chunk: Buffer) => void) {
    super({ highWaterMark: 64 * 1024 });
    this.#req = req;
    this.#onChunk = onChunk;
    // undici destroys it with an error that the relay hears of anyway; unheard, it would end the process.
    this.on("error", () => {});
  }

  override _read(): void {
    if (!this.#listening) {
      this.#listening = true;
      this.#req.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError);
    }
    this.#req.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // 'error' stays: a client that breaks off while its body is drained must not throw.
    this.#req.on("error", this.#onError).off("data", this.#onData).off("end", this.#onEnd).resume();
    callback(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#onChunk?.(chunk);
    if (!this.push(chunk)) this.#req.pause();
  };
  readonly #onEnd = (): void => {
    this.push(null);
  };
  // Without an error: undici then gives the request up as aborted, which is what it is.
  readonly #onError = (): void => {
    this.destroy();
  };
}
