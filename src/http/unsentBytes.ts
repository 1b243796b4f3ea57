import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Bounds on the bytes that wait for clients. */
type UnsentBytesSettings = {
  /**
   * Milliseconds in which a client has to take 1/32 of what waits for it, where much waits in all; else its connection is reset.
   * Always so many times `PATIENCE` without any progress.
   */
  timeout: number;
  /** Bytes that may wait in all. */
  max: number;
};

/** The bytes of answers that clients have not taken yet: how many there are, and which clients take nothing. */
export type UnsentBytes = {
  /** Bytes that wait now, over all connections. */
  readonly total: number;
  /** Answers refused because their bytes did not fit beside those that wait. */
  readonly refused: number;
  /**
   * Whether an answer of so many bytes fits; one alone may be larger than the bound. Where it would not, clients that take nothing make
   * room for it: their connections are reset. A no is counted.
   */
  hasRoomFor: (bytes: number) => boolean;
  /** Connections reset because their client took too little. */
  readonly timedOut: number;
  /** Connections reset to make room for other answers, or because their own answer did not fit beside all others. */
  readonly crowdedOut: number;
  /** Counts what of this answer waits; to be called when writing to it did not bring everything to the system. */
  note: (response: ServerResponse) => void;
  /** Stops counting this connection; to be called when it has closed. */
  forget: (socket: Socket) => void;
  close: () => void;
};

/** One connection on which bytes wait. */
type Backlog = {
  address: string;
  bytes: number;
  /** Bytes by answer: pipelined ones wait together. */
  answers: Map<ServerResponse, number>;
  /** Bytes that the system had taken when the client last took enough, and at the last look. */
  taken: number;
  seen: number;
  /** Looks in a row without enough progress, and without any. */
  idle: number;
  still: number;
};

/** Of what waits a client has to take one part in so many within the timeout: all of it is gone after so many timeouts. */
const PARTS = 32;

/** Looks in one timeout. They are counted, not timed: a stalled event loop must not look like an idle client. */
const LOOKS = 20;

/** Where less waits in all than this part of the bound, slow clients do no harm. */
const PRESSURE = 1 / 4;

/**
 * Timeouts that a client may take nothing while there is no pressure. The system takes more only when a third of its own buffer is free:
 * at 20 KB/s and with a buffer of 4 MB that is once a minute.
 */
const PATIENCE = 15;

/** Room is made for more than one answer, so that not each of them has to look for it. */
const TARGET = 7 / 8;

/**
 * Bytes of a connection that the system has taken. One write of 10 MB is one request to libuv and counts as unsent until its last
 * byte is taken. Progress within it shows only in the handle, where Node's own idle timeout reads it, too (net.js, _onTimeout).
 */
const takenFrom = (socket: Socket): number => {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
};

/** Starts to count, and to reset connections that take too little. */
export const openUnsentBytes = (settings: UnsentBytesSettings): UnsentBytes => new Backlogs(settings);

class Backlogs implements UnsentBytes {
  readonly #timeout: number;
  readonly #max: number;
  readonly #backlogs = new Map<Socket, Backlog>();
  #looking: NodeJS.Timeout | undefined;
  /** Of `total`, the bytes of clients that had taken nothing at the last look. */
  #stillBytes = 0;
  total = 0;
  timedOut = 0;
  crowdedOut = 0;
  refused = 0;

  constructor({ timeout, max }: UnsentBytesSettings) {
    this.#timeout = timeout;
    this.#max = max;
  }

  hasRoomFor(bytes: number): boolean {
    if (this.total === 0 || this.total + bytes <= this.#max || this.#makeRoom(bytes)) return true;
    this.refused++;
    return false;
  }

  note(response: ServerResponse): void {
    // A response that waits behind another one of its connection has no socket of its own yet.
    const { socket } = response.req;
    if (socket.destroyed) return;
    const backlog = this.#backlogs.get(socket) ?? this.#open(socket);
    if (!backlog.answers.has(response)) this.#follow(socket, backlog, response);
    this.#count(backlog, response, response.writableLength);
    // One connection alone may hold more than the bound.
    if (this.total <= this.#max || this.total === backlog.bytes) return;
    if (this.#makeRoom(backlog.bytes, backlog) || socket.destroyed) return;
    this.crowdedOut++;
    this.#reset(socket);
  }

  // As a property: it is handed over as a function.
  readonly forget = (socket: Socket): void => {
    const backlog = this.#backlogs.get(socket);
    if (backlog === undefined) return;
    this.#setStill(backlog, 0);
    this.total -= backlog.bytes;
    this.#backlogs.delete(socket);
    if (this.#backlogs.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  };

  readonly close = (): void => clearInterval(this.#looking);

  #open(socket: Socket): Backlog {
    const taken = takenFrom(socket);
    const address = socket.remoteAddress ?? "";
    const answers = new Map<ServerResponse, number>();
    const backlog = { address, bytes: 0, answers, taken, seen: taken, idle: 0, still: 0 };
    this.#backlogs.set(socket, backlog);
    this.#looking ??= setInterval(() => this.#look(), Math.max(1, this.#timeout / LOOKS)).unref();
    return backlog;
  }

  /** Follows an answer from its first bytes that wait to its end. */
  #follow(socket: Socket, backlog: Backlog, response: ServerResponse): void {
    response.on("drain", () => {
      if (this.#backlogs.get(socket) === backlog) this.#count(backlog, response, response.writableLength);
    });
    response.once("close", () => {
      if (this.#backlogs.get(socket) !== backlog) return;
      this.#count(backlog, response, 0);
      backlog.answers.delete(response);
      if (backlog.answers.size === 0) this.forget(socket);
    });
  }

  #count(backlog: Backlog, response: ServerResponse, bytes: number): void {
    const change = bytes - (backlog.answers.get(response) ?? 0);
    backlog.answers.set(response, bytes);
    backlog.bytes += change;
    this.total += change;
    if (backlog.still > 0) this.#stillBytes += change;
  }

  #setStill(backlog: Backlog, still: number): void {
    if (backlog.still > 0) this.#stillBytes -= backlog.bytes;
    backlog.still = still;
    if (still > 0) this.#stillBytes += backlog.bytes;
  }

  #reset(socket: Socket): void {
    this.forget(socket);
    // Ending it would leave the rest with the system, for as long as the client likes.
    socket.resetAndDestroy();
  }

  #look(): void {
    for (const [socket, backlog] of this.#backlogs) {
      const taken = takenFrom(socket);
      this.#setStill(backlog, backlog.bytes === 0 || taken > backlog.seen ? 0 : backlog.still + 1);
      backlog.seen = taken;
      if (backlog.bytes === 0 || taken - backlog.taken >= Math.max(1, backlog.bytes / PARTS)) {
        backlog.taken = taken;
        backlog.idle = 0;
      } else backlog.idle++;
      if (backlog.still < LOOKS * PATIENCE) continue;
      this.timedOut++;
      this.#reset(socket);
    }
    const target = this.#max * PRESSURE;
    if (this.total > target) this.timedOut += this.#resetGreediest(target, ({ idle }) => idle >= LOOKS);
  }

  /**
   * Makes room for `bytes` beside those of all other connections; `own` is the one that has them already. Where not enough would be left
   * for them, no connection is reset.
   */
  #makeRoom(bytes: number, own?: Backlog): boolean {
    const counted = own?.bytes ?? 0;
    const moving = this.total - this.#stillBytes - (own?.still === 0 ? counted : 0);
    if (moving > 0 && moving + bytes > this.#max) return false;
    const target = counted + Math.max(0, this.#max * TARGET - bytes);
    this.crowdedOut += this.#resetGreediest(target, ({ still }) => still > 0);
    return this.total <= counted || this.total - counted + bytes <= this.#max;
  }

  /**
   * Resets connections whose client takes nothing until no more than `target` bytes wait: of the address that holds most in all,
   * the one that holds most. Returns how many.
   */
  #resetGreediest(target: number, takesNothing: (backlog: Backlog) => boolean): number {
    const held = new Map<string, { bytes: number; idle: [Socket, number][] }>();
    for (const [socket, backlog] of this.#backlogs) {
      let one = held.get(backlog.address);
      if (one === undefined) held.set(backlog.address, (one = { bytes: 0, idle: [] }));
      one.bytes += backlog.bytes;
      if (backlog.bytes > 0 && takesNothing(backlog)) one.idle.push([socket, backlog.bytes]);
    }
    const addresses = [...held.values()].filter(({ idle }) => idle.length > 0);
    for (const { idle } of addresses) idle.sort(([, a], [, b]) => a - b);
    let resets = 0;
    while (addresses.length > 0) {
      if (this.total <= target) break;
      const greediest = addresses.reduce((most, one) => (one.bytes > most.bytes ? one : most));
      const [socket, bytes] = greediest.idle.pop() as [Socket, number];
      greediest.bytes -= bytes;
      if (greediest.idle.length === 0) addresses.splice(addresses.indexOf(greediest), 1);
      this.#reset(socket);
      resets++;
    }
    return resets;
  }
}
