import type { Socket } from "node:net";

/** Resets connections whose clients do not take their answers. */
export type StalledClients = ReturnType<typeof openStalledClients>;

/**
 * Bytes of a connection that the system has taken. One write of 10 MB is one request to libuv and counts as unsent
 * until its last byte is taken. Progress within it shows only in the handle. Node's own idle timeout reads it there,
 * too (net.js, _onTimeout), but what the client sends postpones that timeout.
 */
const takenFrom = (socket: Socket): number => {
  const { _handle: handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
};

/** `timeout`: milliseconds in which a client has to take a byte. It is reset after twice as long at the latest. */
export const openStalledClients = (timeout: number) => {
  const watched = new WeakSet<Socket>();
  let resets = 0;
  return {
    /** Watches a connection on which bytes wait, until the client has taken them. */
    watch(socket: Socket): void {
      if (watched.has(socket) || socket.destroyed) return;
      watched.add(socket);
      let taken = takenFrom(socket);
      const stop = (): void => {
        clearInterval(timer);
        watched.delete(socket);
        socket.off("close", stop);
      };
      const timer = setInterval(() => {
        if (socket.writableLength === 0) return stop();
        const before = taken;
        taken = takenFrom(socket);
        if (taken > before) return;
        resets++;
        // Ending it would leave the rest with the system, for as long as the client likes.
        socket.resetAndDestroy();
      }, timeout).unref();
      socket.on("close", stop);
    },
    /** Connections that were reset. */
    get resets(): number {
      return resets;
    },
  };
};
