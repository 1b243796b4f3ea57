import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type UnsentBytesSettings = {
  /** Milliseconds in which a client has to take 1/32 of what waits for it; else its connection is reset. */
  timeout: number;
  /** Bytes that may wait in all. */
  max: number;
};

/** The bytes of answers that clients have not taken yet: how many there are, and which clients take nothing. */
export type UnsentBytes = {
  /** Bytes that wait now, over all connections. */
  readonly total: number;
  /** Whether no further request may be answered. */
  readonly isFull: boolean;
  /** Answers refused because their bytes did not fit beside those that wait. */
  readonly refused: number;
  /** Whether an answer of so many bytes fits; one alone may be larger than the bound. A no is counted. */
  hasRoomFor: (bytes: number) => boolean;
  /** Connections reset because their client took too little. */
  readonly timedOut: number;
  /** Connections reset because their answer did not fit beside all others. */
  readonly crowdedOut: number;
  /** Counts what of this answer waits; to be called when writing to it did not bring everything to the system. */
  note: (response: ServerResponse) => void;
  /** Counts nothing of this connection any more; to be called when it has closed. */
  forget: (socket: Socket) => void;
  close: () => void;
};

/** One connection on which bytes wait. */
type Backlog = {
  bytes: number;
  /** Bytes by answer: pipelined ones wait together. */
  answers: Map<ServerResponse, number>;
  /** Bytes that the system had taken when the client last took enough. */
  taken: number;
  /** Looks in a row without enough progress. */
  idle: number;
};

/** Of what waits a client has to take one part in so many within the timeout: all of it is gone after so many timeouts. */
const PARTS = 32;

/** Looks in one timeout. They are counted, not timed: a stalled event loop must not look like an idle client. */
const LOOKS = 4;

/**
 * Bytes of a connection that the system has taken. One write of 10 MB is one request to libuv and counts as unsent until its last
 * byte is taken, so progress within it shows only in the handle, as Node's own idle timeout reads it (net.js, _onTimeout).
 */
const takenFrom = (socket: Socket): number => {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
};

export const openUnsentBytes = ({ timeout, max }: UnsentBytesSettings): UnsentBytes => {
  const backlogs = new Map<Socket, Backlog>();
  let looking: NodeJS.Timeout | undefined;
  let total = 0;
  let timedOut = 0;
  let crowdedOut = 0;
  let refused = 0;

  const count = (backlog: Backlog, response: ServerResponse, bytes: number): void => {
    const change = bytes - (backlog.answers.get(response) ?? 0);
    backlog.answers.set(response, bytes);
    backlog.bytes += change;
    total += change;
  };

  const forget = (socket: Socket): void => {
    const backlog = backlogs.get(socket);
    if (backlog === undefined) return;
    total -= backlog.bytes;
    backlogs.delete(socket);
    if (backlogs.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };

  const reset = (socket: Socket): void => {
    forget(socket);
    // Ending it would leave the rest with the system, for as long as the client likes.
    socket.resetAndDestroy();
  };

  const look = (): void => {
    for (const [socket, backlog] of backlogs) {
      const taken = takenFrom(socket);
      if (backlog.bytes === 0 || taken - backlog.taken >= Math.max(1, backlog.bytes / PARTS)) {
        backlog.taken = taken;
        backlog.idle = 0;
      } else if (++backlog.idle >= LOOKS) {
        timedOut++;
        reset(socket);
      }
    }
  };

  const open = (socket: Socket): Backlog => {
    const backlog = { bytes: 0, answers: new Map<ServerResponse, number>(), taken: takenFrom(socket), idle: 0 };
    backlogs.set(socket, backlog);
    looking ??= setInterval(look, Math.max(1, timeout / LOOKS)).unref();
    return backlog;
  };

  /** Follows an answer from its first bytes that wait to its end. */
  const follow = (socket: Socket, backlog: Backlog, response: ServerResponse): void => {
    response.on("drain", () => {
      if (backlogs.get(socket) === backlog) count(backlog, response, response.writableLength);
    });
    response.once("close", () => {
      if (backlogs.get(socket) !== backlog) return;
      count(backlog, response, 0);
      backlog.answers.delete(response);
      if (backlog.answers.size === 0) forget(socket);
    });
  };

  return {
    get total() {
      return total;
    },
    get isFull() {
      return total >= max;
    },
    get refused() {
      return refused;
    },
    hasRoomFor(bytes) {
      if (total === 0 || total + bytes <= max) return true;
      refused++;
      return false;
    },
    get timedOut() {
      return timedOut;
    },
    get crowdedOut() {
      return crowdedOut;
    },
    note(response) {
      // A response that waits behind another one of its connection has no socket of its own yet.
      const { socket } = response.req;
      if (socket.destroyed) return;
      const backlog = backlogs.get(socket) ?? open(socket);
      if (!backlog.answers.has(response)) follow(socket, backlog, response);
      const bytes = response.writableLength;
      count(backlog, response, bytes);
      // One answer alone may be larger than the bound.
      if (total <= max || total === bytes) return;
      crowdedOut++;
      reset(socket);
    },
    forget,
    close: () => clearInterval(looking),
  };
};
