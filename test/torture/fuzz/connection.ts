import { type Socket, connect } from "node:net";
import { type Message, MessageReader } from "../lib/messageReader.ts";
import type { WellFormed } from "./oracle.ts";

/**
 * The plan of one connection: it sends requests one by one or all at once, then perhaps malformed
 * bytes, and ends in some way.
 */
export type Plan = {
  requests: WellFormed[];
  isPipelined: boolean;
  /**
   * Bytes behind the well-formed requests: a `forbidden` request must be refused, `mangled` bytes may be anything.
   * If `most` is given, the client stays for further answers, at most `most` of them.
   */
  last?: { bytes: Buffer; is: "forbidden" | "mangled"; most?: number };
  /** Milliseconds from the connection's start until the client leaves, and how. */
  leaves?: { after: number; how: "close" | "reset" | "halfClose" };
  endsByReset: boolean;
  /** Milliseconds for which nothing is read. */
  pause?: number;
  /** The number of pieces in which the bytes are sent, a few milliseconds apart. */
  pieces: number;
};

export type ConnectionEvents = {
  sent: (request: WellFormed) => void;
  sentMalformed: () => void;
  answered: (request: WellFormed, answer: Message) => void;
  /** No answer, and the connection was closed without a reason. */
  dropped: (request: WellFormed) => void;
  /** An answer (or the end of the connection) did not come within the time limit. */
  hung: (what: string) => void;
  /** A forbidden request was accepted, or answered without HTTP. */
  wrong: (what: string, why: string) => void;
};

type Settings = { port: number; plan: Plan; limit: number; events: ConnectionEvents };

/**
 * Carries out a plan; `limit` (ms) is how long each answer may take. It resolves when the connection is closed: how
 * many requests were sent.
 */
export const runConnection = (settings: Settings): Promise<number> =>
  new Promise((resolve) => {
    new Connection(settings, resolve).open();
  });

/** Mangled bytes may wait for more for ever: then the client leaves, after this time in milliseconds. */
const MANGLED_PATIENCE = 100;

class Connection {
  readonly #settings: Settings;
  readonly #onClosed: (sent: number) => void;
  readonly #socket: Socket;
  readonly #reader: MessageReader;
  readonly #deadline: NodeJS.Timeout;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #outgoing: Buffer[] = [];
  #isSending = false;
  /** The number of requests that were written, and of those that were answered. */
  #written = 0;
  #answered = 0;
  #lastSent = 0;
  #lastAnswered = 0;
  /** The client has left: its answers are not judged any more. */
  #left = false;
  /** The gateway said that it closes, or had a reason to. */
  #mayClose = false;

  constructor(settings: Settings, onClosed: (sent: number) => void) {
    this.#settings = settings;
    this.#onClosed = onClosed;
    this.#socket = connect({ port: settings.port, host: "127.0.0.1", noDelay: true });
    this.#reader = new MessageReader({
      hasNoBody: (start) => this.#hasNoBody(start),
      withoutLength: "close",
      onMessage: (message) => this.#onMessage(message),
      onBroken: (why) => this.#onBroken(why),
    });
    this.#deadline = setTimeout(() => this.#onDeadline(), settings.limit);
  }

  open(): void {
    const { plan } = this.#settings;
    this.#socket.on("data", (chunk: Buffer) => this.#reader.push(chunk));
    this.#socket.on("error", () => undefined);
    // The gateway ends the connection: its answers must have come by now.
    this.#socket.on("end", () => this.#socket.end());
    this.#socket.on("close", () => this.#onClose());
    if (plan.pause !== undefined) {
      this.#socket.pause();
      this.#later(plan.pause, () => this.#socket.resume());
    }
    const { leaves } = plan;
    if (leaves) this.#later(leaves.after, () => this.#leave(leaves.how));
    if (plan.isPipelined) {
      for (const request of plan.requests) this.#settings.events.sent(request);
      this.#written = plan.requests.length;
      if (plan.last) this.#countLast();
      this.#write(Buffer.concat([...plan.requests.map(({ bytes }) => bytes), ...(plan.last ? [plan.last.bytes] : [])]));
      if (plan.requests.length === 0) this.#awaitLast();
    } else this.#next();
  }

  #later(ms: number, then: () => void): void {
    this.#timers.push(setTimeout(then, ms));
  }

  #write(bytes: Buffer): void {
    const { pieces } = this.#settings.plan;
    if (pieces < 2) return this.#writeNow(bytes);
    const size = Math.ceil(bytes.length / pieces);
    for (let at = 0; at < bytes.length; at += size) this.#outgoing.push(bytes.subarray(at, at + size));
    if (!this.#isSending) this.#sendPiece();
  }

  /** An answer may come before its request is sent whole; the next request follows behind. */
  #sendPiece(): void {
    const piece = this.#outgoing.shift();
    this.#isSending = piece !== undefined;
    if (piece === undefined) return;
    this.#writeNow(piece);
    this.#later(2, () => this.#sendPiece());
  }

  #writeNow(bytes: Buffer): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  #next(): void {
    const { plan, events } = this.#settings;
    const request = plan.requests[this.#written];
    if (request !== undefined) {
      events.sent(request);
      this.#written++;
      return this.#write(request.bytes);
    }
    if (plan.last) {
      this.#countLast();
      this.#write(plan.last.bytes);
      return this.#awaitLast();
    }
    this.#finish();
  }

  #countLast(): void {
    this.#lastSent = 1;
    this.#settings.events.sentMalformed();
  }

  #awaitLast(): void {
    const { plan } = this.#settings;
    if (plan.last?.is === "mangled") this.#later(MANGLED_PATIENCE, () => this.#leave("close"));
    else if (plan.last === undefined) this.#finish();
  }

  #hasNoBody(start: string): boolean {
    const { requests } = this.#settings.plan;
    // An answer to bytes that are no HTTP has a body, whatever request it stands in for: a half-close
    // cuts a HEAD to such bytes.
    const isRefusal = (this.#settings.plan.last !== undefined || this.#left) && / 4(?:00|08|31) /.test(start);
    return (requests[this.#answered]?.method === "HEAD" && !isRefusal) || / (?:204|304)(?: |$)/.test(start);
  }

  #onMessage(message: Message): void {
    const { plan, events } = this.#settings;
    const request = plan.requests[this.#answered];
    const isClosing = /\r\nconnection: close/i.test(message.fields);
    if (isClosing || !message.whole) this.#mayClose = true;
    // A malformed request ends the connection at once, even if requests before it still wait for answers.
    const isRefusal = isClosing && plan.last !== undefined && /^HTTP\/1\.1 4(00|08|31) /.test(message.start);
    if (request === undefined || isRefusal) return this.#onLastAnswer(message);
    this.#answered++;
    // An answer that arrived in part before the client left is not judged.
    if (!this.#left) events.answered(request, message);
    this.#deadline.refresh();
    if (request.closes || this.#mayClose) return;
    if (!plan.isPipelined) this.#next();
    else if (this.#answered === plan.requests.length) this.#awaitLast();
  }

  #onLastAnswer(message: Message): void {
    const { plan, events } = this.#settings;
    const { last } = plan;
    const what = last?.bytes.toString("latin1", 0, 2000) ?? "no request";
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(message.start)?.[1] ?? Number.NaN);
    const isOurError = status === 500 && message.body.includes("Internal Server Error");
    if (last === undefined) events.wrong(what, `an answer that nothing asked for: ${message.start}`);
    else if (last.is === "forbidden" && !(status >= 400 && status < 600))
      events.wrong(what, `a forbidden request was answered ${message.start}`);
    else if (Number.isNaN(status) || isOurError) events.wrong(what, `malformed bytes were answered ${message.start}`);
    else if (last.most !== undefined) {
      if (++this.#lastAnswered > last.most) events.wrong(what, "more answers than requests");
      else return;
    }
    this.#finish();
  }

  #onBroken(why: string): void {
    const { plan, events } = this.#settings;
    const request = plan.requests[this.#answered];
    if (!this.#left) events.wrong(request?.target ?? "behind the last request", `an answer that is no HTTP: ${why}`);
    this.#mayClose = true;
    this.#socket.destroy();
  }

  #leave(how: "close" | "reset" | "halfClose"): void {
    this.#left = true;
    if (how === "reset") this.#socket.resetAndDestroy();
    else if (how === "close") this.#socket.destroy();
    else this.#socket.end();
  }

  /** Everything is answered. */
  #finish(): void {
    this.#mayClose = true;
    if (this.#settings.plan.endsByReset) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  #onDeadline(): void {
    const { plan, events } = this.#settings;
    const request = plan.requests[this.#answered];
    const open = request ? `${request.method} ${request.target}` : plan.last?.bytes.toString("latin1", 0, 200);
    events.hung(`${open ?? "the end of the connection"}${this.#left ? " (after the client half-closed)" : ""}`);
    this.#left = true;
    this.#socket.destroy();
  }

  #onClose(): void {
    const { plan, events } = this.#settings;
    clearTimeout(this.#deadline);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#reader.end();
    const request = plan.requests[this.#answered];
    const isOwed = request !== undefined && this.#answered < this.#written;
    // A forbidden request may be refused by closing at once, and bytes behind it break off what stands before it.
    if (isOwed && !this.#left && !this.#mayClose && plan.last === undefined) events.dropped(request);
    this.#onClosed(this.#written + this.#lastSent);
  }
}
