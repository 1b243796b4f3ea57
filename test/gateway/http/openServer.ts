import { type RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { openByteBudget } from "../../../src/operation/limits/byteBudget.ts";
import { type ClientLimits, openHttpServer } from "../../../src/gateway/http/httpServer.ts";
import { listen } from "../../../src/operation/network/listen.ts";

/** More than the system takes for a client that reads nothing. */
export const LARGE = 24 * 1024 * 1024;
export const large = Buffer.alloc(LARGE, "x");

/** Bounds that a test does not reach unless it means to. */
export const roomyLimits: ClientLimits = {
  sendTimeout: 20_000,
  answerTimeout: 60_000,
  memory: openByteBudget(2 ** 28),
  maxConnections: 1000,
};

/**
 * A server of ours over any listener, and the connections that it has taken: `/large` answers 24
 * MiB, anything else `ok`.
 */
export const open = async (limits: Partial<ClientLimits> = {}, listener?: RequestListener) => {
  const opened = openHttpServer(
    { optimizeEmptyRequests: true },
    { ...roomyLimits, ...limits },
    listener ?? ((request, response) => response.end(request.url === "/large" ? large : "ok")),
  );
  const sockets: Socket[] = [];
  opened.server.on("connection", (socket: Socket) => void sockets.push(socket));
  const { port, close } = await listen(opened.server);
  onTestFinished(close);
  return { ...opened, port, sockets };
};

/** A client that sends this and reads nothing; a reset shows only when it writes, so it is seen at the server. */
export const unreader = (port: number, bytes: string, localAddress = "127.0.0.1") => {
  const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(bytes);
  return socket;
};

/** Answers in pieces of 64 KiB, without an end, and waits for the client after each that it does not take. */
export const streaming: RequestListener = (_, response) => {
  const more = () => {
    while (response.write(large.subarray(0, 64 * 1024)));
    response.once("drain", more);
  };
  more();
};

export const staying = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
