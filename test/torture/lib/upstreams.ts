import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { type AddressInfo, type Server, type Socket, createServer as createNetServer } from "node:net";
import { readRawRequests } from "../../support/rawRequests.ts";

/** Answers one request, whose body has been read. */
export type UpstreamListener = (
  request: IncomingMessage & { method: string; url: string },
  response: ServerResponse,
  body: Buffer,
) => void;

type HttpUpstream = { url: string; sockets(): number; close(): void };
type RawUpstream = HttpUpstream & {
  /** Everything that came, of each connection (latin1). */
  received(): string[];
};

/** A sound HTTP server on a free port. */
export const openUpstream = async (listener: UpstreamListener): Promise<HttpUpstream> => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => undefined);
    request.on("end", () => listener(request as Parameters<UpstreamListener>[0], response, Buffer.concat(chunks)));
  });
  server.keepAliveTimeout = 60_000;
  return listening(server);
};

/**
 * A server that writes bytes itself; `answer` is called with each request's head and, where it has a length, its body.
 */
export const openRawUpstream = async (answer: (socket: Socket, request: string) => void): Promise<RawUpstream> => {
  const received: string[] = [];
  const server = createNetServer({ noDelay: true }, (socket) => {
    const number = received.push("") - 1;
    socket.on("data", (chunk: Buffer) => void (received[number] += chunk.toString("latin1")));
    readRawRequests(socket, (request) => answer(socket, request));
  });
  return { ...(await listening(server)), received: () => received };
};

const listening = async (server: Server): Promise<HttpUpstream> => {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", 4096, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets: () => sockets.size,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};
