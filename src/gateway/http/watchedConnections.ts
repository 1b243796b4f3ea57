import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { answeringOn } from "./refusal.ts";

/**
 * `sendTimeout`: milliseconds in which a client has to take a byte. It is reset after twice as long at the latest.
 * `answerTimeout`: milliseconds after which a connection on which nothing moves is of no use: longer than any answer
 * may take to begin. `fail` ends the response that its client waits for.
 */
type WatchSettings = {
  sendTimeout: number;
  answerTimeout: number;
  fail: (response: ServerResponse, error: Error) => void;
};

/** A connection as the last look has found it. `quietLooks`: how many have found that nothing moves. */
type Watched = { taken: number; received: number; hasWaiting: boolean; quietLooks: number };

/**
 * Bytes of a connection that the system has taken. One write of 10 MB is one request to libuv and counts as unsent
 * until its last byte is taken. Progress within it shows only in the handle. Node's own idle timeout reads it there,
 * too (net.js, _onTimeout), but what the client sends postpones that timeout.
 */
const takenFrom = (socket: Socket): number => {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
};

/**
 * Looks at all connections of a server once in `sendTimeout`, which costs no request a timer. Resets those whose
 * clients do not take their answers, and ends those on which nothing moves: code of ours has thrown where nothing else
 * tells the client.
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
      // Ending it would leave the rest with the system, for as long as the client likes.
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
    /** Connections that were reset since their clients took nothing. */
    get resets(): number {
      return resets;
    },
  };
};
