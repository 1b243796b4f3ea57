import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { ask, type UpstreamReply } from "../../upstream/ask.ts";
import { openUpstream } from "../../upstream/upstream.ts";
import type { Exchange } from "./exchange.ts";

/** Where a legacy interface is: its origin, and the path it begins at (`""` or `/api/v1`). */
export type LegacyPlace = { origin: string; path: string };

/** A loopback server that stands between the gateway and legacy. */
export type Recorder = {
  url: string;
  /** What was exchanged since the last call, and why legacy could not be asked, if so. */
  taken(): { exchanges: Exchange[]; failure?: string };
  close(): Promise<void>;
};

const TIMEOUT = 60_000;
const MOST_BYTES = 32 * 1024 ** 2;

/** Forwards everything to legacy, and keeps it. Listens on a free port. */
export const openRecorder = async ({ origin, path }: LegacyPlace): Promise<Recorder> => {
  const upstream = openUpstream({
    origin,
    connections: 4,
    waiting: 100,
    connectTimeout: 10_000,
    headersTimeout: TIMEOUT,
    bodyTimeout: TIMEOUT,
  });
  let exchanges: Exchange[] = [];
  let failure: string | undefined;

  const forwarded = async (incoming: IncomingMessage): Promise<UpstreamReply> => {
    const { method = "GET", url = "/", headers } = incoming;
    const body = await bodyOf(incoming);
    const reply = await ask(upstream, {
      method,
      path: url,
      headers: { ...sentOn(headers), host: new URL(origin).host },
      ...(body.length > 0 ? { body } : {}),
      maxBytes: MOST_BYTES,
      totalTimeout: TIMEOUT,
    });
    if (!isUtf8(reply.body)) throw new Error("The upstream's answer is not UTF-8, which no fixture can hold.");
    exchanges.push({ request: requestOf(method, url.slice(path.length), body), response: responseOf(reply) });
    return reply;
  };
  const server = createServer((incoming, response) => {
    forwarded(incoming).then(
      ({ status, contentType, body }) => response.writeHead(status, { "Content-Type": contentType }).end(body),
      (error: Error) => {
        failure ??= error.message;
        response.writeHead(502).end();
      },
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken() {
      const taken = { exchanges, ...(failure === undefined ? {} : { failure }) };
      exchanges = [];
      failure = undefined;
      return taken;
    },
    async close() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await upstream.close();
    },
  };
};

/** Legacy is asked as the gateway asks it, but not told of the way there. */
const sentOn = (headers: IncomingMessage["headers"]): Record<string, string> =>
  Object.fromEntries(
    ["accept", "content-type", "user-agent"].flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );

const bodyOf = async (incoming: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const requestOf = (method: string, target: string, body: Buffer): Exchange["request"] => {
  const [path = "", query] = target.split("?", 2);
  const isPost = method === "POST";
  const { api_key: key, ...form } = Object.fromEntries(new URLSearchParams(isPost ? body.toString() : query));
  return {
    method: isPost ? "POST" : "GET",
    path,
    ...(key === undefined ? {} : { key }),
    ...(isPost ? { form } : {}),
  };
};

const responseOf = ({ status, contentType, body }: UpstreamReply): Exchange["response"] => ({
  status,
  type: contentType.includes("json") ? "json" : contentType.includes("xml") ? "xml" : "html",
  body: body.toString("utf8"),
});
