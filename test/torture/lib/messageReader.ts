const EMPTY = Buffer.alloc(0);
/** Bytes of a head. */
const MAX_HEAD = 256 * 1024;

/**
 * An HTTP/1 message: `start` is its first line, `fields` its header lines as they came, `body` without chunk framing.
 */
export type Message = {
  start: string;
  fields: string;
  body: Buffer;
  /** False where the connection ended before the message did. */
  whole: boolean;
  /** The number of 1xx answers that came before. */
  interim: number;
};

type ReaderOptions = {
  /** True if a message has no body whatever its headers say (an answer to HEAD, 204, 304). */
  hasNoBody: (start: string) => boolean;
  /**
   * For a body without a length in the headers: `close` reads until the end of the connection (answers), `none`
   * reads nothing (requests).
   */
  withoutLength: "close" | "none";
  onMessage: (message: Message) => void;
  /** The bytes are no HTTP/1 message; nothing more is read. */
  onBroken: (why: string) => void;
};

/** The beginning of some bytes as it was read: a body and the bytes that it takes, its beginning, or no HTTP/1. */
type Read = { body: Buffer; taken: number } | { begun: Buffer; endsWithConnection: boolean } | { broken: string };

/** Reads HTTP/1 messages from a connection, piece by piece. It is strict: messages it accepts suit any client. */
export class MessageReader {
  readonly #options: ReaderOptions;
  /** The bytes since the last whole message. */
  #data: Buffer = EMPTY;
  #interim = 0;
  #isBroken = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    if (this.#isBroken) return;
    this.#data = Buffer.concat([this.#data, chunk]);
    while (this.#data.length > 0 && this.#readNext());
  }

  /** The connection has ended. A message that had begun is given out as it is. */
  end(): void {
    if (this.#isBroken || this.#data.length === 0) return;
    const head = this.#head();
    const read = head && this.#bodyOf(head);
    if (head === undefined) this.#give({ start: this.#data.toString("latin1"), fields: "" }, EMPTY, false);
    else if (read && "begun" in read) this.#give(head, read.begun, read.endsWithConnection);
  }

  /** True where a head or a message was read; false where more bytes are needed. */
  #readNext(): boolean {
    const head = this.#head();
    if (head === undefined) return this.#data.length > MAX_HEAD && this.#break("a head of more than 256 KiB");
    if (/^HTTP\/1\.[01] 1\d\d/.test(head.start)) {
      this.#interim++;
      this.#data = this.#data.subarray(head.length);
      return true;
    }
    const read = this.#bodyOf(head);
    if ("broken" in read) return this.#break(read.broken);
    if ("begun" in read) return false;
    this.#data = this.#data.subarray(head.length + read.taken);
    this.#give(head, read.body, true);
    return true;
  }

  #head(): { start: string; fields: string; length: number } | undefined {
    const end = this.#data.indexOf("\r\n\r\n");
    if (end === -1) return undefined;
    const head = this.#data.toString("latin1", 0, end);
    const [start = ""] = head.split("\r\n", 1);
    return { start, fields: head.slice(start.length), length: end + 4 };
  }

  #bodyOf({ start, fields, length: headLength }: { start: string; fields: string; length: number }): Read {
    const data = this.#data.subarray(headLength);
    const length = /\r\ncontent-length:[ \t]*([^\r]*)/i.exec(fields)?.[1];
    const coding = /\r\ntransfer-encoding:[ \t]*([^\r]*)/i.exec(fields)?.[1];
    if (length !== undefined && coding !== undefined) return { broken: "a length and chunks" };
    if (this.#options.hasNoBody(start)) return { body: EMPTY, taken: 0 };
    if (coding !== undefined)
      return coding.toLowerCase() === "chunked" ? readChunks(data) : { broken: `Transfer-Encoding: ${coding}` };
    if (length === undefined)
      return this.#options.withoutLength === "none"
        ? { body: EMPTY, taken: 0 }
        : { begun: data, endsWithConnection: true };
    if (!/^\d{1,15}$/.test(length)) return { broken: `Content-Length: ${length}` };
    const size = Number(length);
    return data.length < size
      ? { begun: data, endsWithConnection: false }
      : { body: data.subarray(0, size), taken: size };
  }

  #give({ start, fields }: { start: string; fields: string }, body: Buffer, whole: boolean): void {
    const interim = this.#interim;
    this.#interim = 0;
    this.#options.onMessage({ start, fields, body, whole, interim });
  }

  #break(why: string): false {
    this.#isBroken = true;
    this.#options.onBroken(why);
    return false;
  }
}

/** A body in chunks, to the end of its trailers. */
const readChunks = (data: Buffer): Read => {
  const pieces: Buffer[] = [];
  const begun = (): Read => ({ begun: Buffer.concat(pieces), endsWithConnection: false });
  for (let at = 0; ;) {
    const end = data.indexOf("\r\n", at);
    if (end === -1) return data.length - at > 4096 ? { broken: "a chunk size of more than 4 KiB" } : begun();
    const size = /^([0-9a-f]{1,12})(?:;.*)?$/i.exec(data.toString("latin1", at, end))?.[1];
    if (size === undefined) return { broken: "no chunk size" };
    const [from, to] = [end + 2, end + 2 + Number.parseInt(size, 16)];
    if (from === to) {
      const last = endOfTrailers(data, from);
      return last === undefined ? begun() : { body: Buffer.concat(pieces), taken: last };
    }
    pieces.push(data.subarray(from, to));
    if (data.length < to + 2) return begun();
    if (data[to] !== 13 || data[to + 1] !== 10) return { broken: "a chunk without an end" };
    at = to + 2;
  }
};

/** Behind the empty line that ends the trailers; `undefined` where it has not come yet. */
const endOfTrailers = (data: Buffer, from: number): number | undefined => {
  for (let at = from; ;) {
    const end = data.indexOf("\r\n", at);
    if (end === -1) return undefined;
    if (end === at) return end + 2;
    at = end + 2;
  }
};
