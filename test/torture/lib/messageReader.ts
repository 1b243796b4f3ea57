const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from("\r\n\r\n");

/** An HTTP/1 message: `start` is its first line, `fields` its header lines as they came, `body` without chunk framing. */
export type Message = {
  start: string;
  fields: string;
  body: Buffer;
  /** False where the connection ended before the message did. */
  whole: boolean;
  /** How many 1xx answers came before. */
  interim: number;
};

type ReaderOptions = {
  /** Whether a message has no body whatever its headers say (an answer to HEAD, 204, 304). */
  hasNoBody: (start: string) => boolean;
  /** Where no header says how long the body is: `close` reads until the end of the connection (answers), `none` reads nothing (requests). */
  withoutLength: "close" | "none";
  onMessage: (message: Message) => void;
  /** The bytes are no HTTP/1 message; nothing more is read. */
  onBroken: (why: string) => void;
};

type State = "head" | "length" | "chunkSize" | "chunkData" | "trailers" | "close" | "broken";

/** Reads HTTP/1 messages from a connection, piece by piece. It is strict: what it takes for sound, any client would. */
export class MessageReader {
  readonly #options: ReaderOptions;
  #state: State = "head";
  #data: Buffer = EMPTY;
  #start = "";
  #fields = "";
  #pieces: Buffer[] = [];
  /** Bytes still to come of the body or of the chunk. */
  #remaining = 0;
  #interim = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    this.#data = this.#data.length === 0 ? chunk : Buffer.concat([this.#data, chunk]);
    while (this.#data.length > 0 && this.#step());
  }

  /** The connection has ended. A message that had begun is given out as it is. */
  end(): void {
    if (this.#state === "broken") return;
    if (this.#state === "close") return this.#finish(true);
    if (this.#state === "head") {
      if (this.#data.length > 0) this.#give({ start: this.#data.toString("latin1"), fields: "", whole: false });
      return;
    }
    if (this.#data.length > 0 && this.#state !== "chunkSize" && this.#state !== "trailers")
      this.#pieces.push(this.#data);
    this.#finish(false);
  }

  /** True where something was read; false where more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case "head":
        return this.#readHead();
      case "length":
        return this.#readBody(() => this.#finish(true));
      case "chunkSize":
        return this.#readChunkSize();
      case "chunkData":
        return this.#readBody(() => (this.#state = "chunkSize"));
      case "trailers":
        return this.#readTrailers();
      case "close":
        this.#pieces.push(this.#data);
        this.#data = EMPTY;
        return false;
      default:
        this.#data = EMPTY;
        return false;
    }
  }

  #readHead(): boolean {
    const end = this.#data.indexOf(HEAD_END);
    if (end === -1) {
      if (this.#data.length > 256 * 1024) this.#break("a head of more than 256 KiB");
      return false;
    }
    const head = this.#data.toString("latin1", 0, end);
    this.#data = this.#data.subarray(end + 4);
    const line = head.indexOf("\r\n");
    this.#start = line === -1 ? head : head.slice(0, line);
    this.#fields = line === -1 ? "" : head.slice(line);
    if (/^HTTP\/1\.[01] 1\d\d/.test(this.#start)) {
      this.#interim++;
      return true;
    }
    const length = /\r\ncontent-length:[ \t]*([^\r]*)/i.exec(this.#fields)?.[1];
    const coding = /\r\ntransfer-encoding:[ \t]*([^\r]*)/i.exec(this.#fields)?.[1];
    if (length !== undefined && coding !== undefined) return this.#break("a length and chunks");
    if (this.#options.hasNoBody(this.#start)) this.#finish(true);
    else if (coding !== undefined) {
      if (coding.toLowerCase() !== "chunked") return this.#break(`Transfer-Encoding: ${coding}`);
      this.#state = "chunkSize";
    } else if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) return this.#break(`Content-Length: ${length}`);
      this.#remaining = Number(length);
      if (this.#remaining === 0) this.#finish(true);
      else this.#state = "length";
    } else if (this.#options.withoutLength === "none") this.#finish(true);
    else this.#state = "close";
    return true;
  }

  #readBody(onEnd: () => void): boolean {
    const piece = this.#data.length <= this.#remaining ? this.#data : this.#data.subarray(0, this.#remaining);
    this.#data = piece === this.#data ? EMPTY : this.#data.subarray(this.#remaining);
    this.#remaining -= piece.length;
    // The line end after a chunk is no part of the body.
    this.#pieces.push(piece);
    if (this.#remaining === 0) onEnd();
    return true;
  }

  #readChunkSize(): boolean {
    // The end of the chunk before stands in front of the next size.
    const from = this.#pieces.length > 0 ? 2 : 0;
    const end = this.#data.indexOf("\r\n", from);
    if (this.#data.length < from || end === -1) {
      if (this.#data.length > 4096) this.#break("a chunk size of more than 4 KiB");
      return false;
    }
    if (from === 2 && (this.#data[0] !== 13 || this.#data[1] !== 10)) return this.#break("a chunk without an end");
    const size = /^([0-9a-f]{1,12})(?:;.*)?$/i.exec(this.#data.toString("latin1", from, end))?.[1];
    if (size === undefined) return this.#break("no chunk size");
    this.#data = this.#data.subarray(end + 2);
    this.#remaining = Number.parseInt(size, 16);
    this.#state = this.#remaining === 0 ? "trailers" : "chunkData";
    return true;
  }

  #readTrailers(): boolean {
    const end = this.#data.indexOf("\r\n");
    if (end === -1) return false;
    this.#data = this.#data.subarray(end + 2);
    if (end === 0) this.#finish(true);
    return true;
  }

  #finish(whole: boolean): void {
    this.#give({ start: this.#start, fields: this.#fields, whole });
  }

  #give(message: Omit<Message, "body" | "interim">): void {
    const [first = EMPTY] = this.#pieces;
    const body = this.#pieces.length < 2 ? first : Buffer.concat(this.#pieces);
    const interim = this.#interim;
    this.#state = "head";
    this.#pieces = [];
    this.#interim = 0;
    this.#options.onMessage({ ...message, body, interim });
  }

  #break(why: string): false {
    this.#state = "broken";
    this.#options.onBroken(why);
    return false;
  }
}
