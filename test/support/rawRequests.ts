import type { Socket } from "node:net";

/**
 * Calls `onRequest` with each HTTP request on a socket, its head and, where it has a length, its
 * body, one character a byte.
 */
export const readRawRequests = (socket: Socket, onRequest: (request: string) => void): void => {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    for (;;) {
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) return;
      const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      const request = text.slice(0, end + 4 + length);
      text = text.slice(end + 4 + length);
      onRequest(request);
    }
  });
};
