import * as http from "./nodeHttp.ts";

/** Chunks of up to so many bytes are joined. */
const SMALL = 1024;

const nothing = Buffer.alloc(0);

/**
 * A request that joins the small chunks of a body that is not read yet, those of each turn of the event loop: apart, each would take
 * 150 bytes more than its own. Emits `whole` when all of the body is there, be it unread.
 */
export class JoiningRequest extends http.IncomingMessage {
  #joined: Buffer = nothing;
  #size = 0;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null || this.readableLength === 0 || chunk.length > SMALL) {
      if (this.#size > 0) this.#pushJoined();
      const wantsMore = super.push(chunk);
      if (chunk === null) this.emit("whole");
      return wantsMore;
    }
    if (this.#size === 0) setImmediate(() => this.#pushJoined());
    const end = this.#size + chunk.length;
    if (end > this.#joined.length) this.#joined = Buffer.concat([this.#joined.subarray(0, this.#size)], 2 * end);
    this.#joined.set(chunk, this.#size);
    this.#size = end;
    return this.readableLength + end < this.readableHighWaterMark;
  }

  #pushJoined(): void {
    if (this.#size === 0 || this.destroyed) return;
    const joined = this.#joined.subarray(0, this.#size);
    this.#joined = nothing;
    this.#size = 0;
    super.push(joined);
  }
}
