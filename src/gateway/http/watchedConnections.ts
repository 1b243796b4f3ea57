import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { answeringOn } from "./refusal.ts";

/**
 * `sendTimeout`: milliseconds in which a client has to take a byte; its connection is reset after at most twice this
 * time. `answerTimeout`: milliseconds after which a silent connection is ended: longer than any answer may take to
 * begin. `fail` ends the response for which its client waits.
 */
type WatchSettings = {
  sendTimeout: number;
  answerTimeout: number;
  fail: (response: ServerResponse, error: Error) => void;
};

/** A connection as it was at the last check. `quietLooks`: checks in a row that found no progress. */
type Watched = { taken: number; received: number; hasWaiting: boolean; quietLooks: number };

/**
 * Bytes of a connection that the system has taken. A write of 10 MB is a single request to libuv and counts as unsent
 * until its last byte is taken, so its progress shows only in the handle. Node's idle timeout also reads it there
 * (net.js, _onTimeout), but bytes from the client postpone that timeout.
 */
const takenFrom = (socket: Socket): number => {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
};

/**
 * Checks all connections of a server once in `sendTimeout`, so that requests need no timers. Resets connections whose
 * clients do not take their answers, and ends silent connections: there, code of the gateway has failed without telling
 * the client.
 */
export const watchConnections = (server: Server, { sendTimeout, answerTimeout, fail }: WatchSettings) => {
  const watched = new Map<Socket, Watched>();
  // Node closes idle connections.
  const mostQuietLooks = Math.ceil(Math.max(answerTimeout, 2 * server.keepAliveTimeout) / sendTimeout);
  let resets = 0;

  const look = (socket: Socket, last: Watched): void => {
    const now = { taken: takenFrom(socket), received: socket.bytesRead, hasWaiting: socket.writableLength > 0 };
    const hasTaken = now.taken > last.taken;
    if (now.hasWaiting && last.hasWaiting && !hasTaken) {
      resets++;
      // Without a reset, the system would keep the rest for as long as the client likes.
      socket.resetAndDestroy();
      return;
    }
    const hasMoved = hasTaken || now.received > last.received;
    const quietLooks = hasMoved ? 0 : last.quietLooks + 1;
    watched.set(socket, { ...now, quietLooks });
    if (quietLooks <= mostQuietLooks) return;
    const response = answeringOn(socket);
    if (response) fail(response, new Error(`a request has had no answer for ${answerTimeout} ms`));
    else socket.destroy();
  };
  server.on("connection", (socket: Socket) => {
    watched.set(socket, { taken: 0, received: 0, hasWaiting: false, quietLooks: 0 });
    socket.once("close", () => watched.delete(socket));
  });
  const timer = setInterval(() => {
    for (const [socket, last] of watched) look(socket, last);
  }, sendTimeout).unref();
  server.once("close", () => clearInterval(timer));

  return {
    /** The number of connections that were reset because their clients took nothing. */
    get resets(): number {
      return resets;
    },
  };
};
