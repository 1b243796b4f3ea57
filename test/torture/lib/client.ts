import { once } from "node:events";
import { Agent, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { type Socket, connect } from "node:net";
import { Worker } from "node:worker_threads";

export type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer; ms: number };

export type AskOptions = {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** Milliseconds until the request is aborted. */
  limit?: number;
  agent?: Agent;
};

const shared = new Agent({ keepAlive: true, maxSockets: 256 });

/** One request, whole; `status` is 0 where no whole answer came (the connection failed, or the time was up). */
export const ask = (port: number, path: string, options: AskOptions = {}): Promise<Answer> =>
  new Promise((resolve) => {
    const { method = "GET", headers = {}, body, limit = 30_000, agent = shared } = options;
    const started = performance.now();
    const end = (status: number, given: IncomingHttpHeaders = {}, chunks: Buffer[] = []) => {
      clearTimeout(late);
      resolve({ status, headers: given, body: Buffer.concat(chunks), ms: performance.now() - started });
    };
    const request = httpRequest({ host: "127.0.0.1", port, path, method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => end(response.complete ? (response.statusCode ?? 0) : 0, response.headers, chunks));
      response.on("error", () => end(0));
    });
    const late = setTimeout(() => request.destroy(new Error("late")), limit);
    request.on("error", () => end(0));
    request.end(body);
  });

/** The JSON of an answer; `undefined` if its body is not JSON. */
export const jsonOf = ({ body }: Answer): unknown => {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return undefined;
  }
};

type Exchange = { text: string; status: number; isClosed: boolean };

/**
 * Sends bytes on a connection of their own and reads until it ends, `quiet` ms pass without a byte behind an
 * answer, or `limit` ms in all.
 */
export const exchange = (port: number, bytes: string | Buffer, { quiet = 150, limit = 3000 } = {}): Promise<Exchange> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let isClosed = false;
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const end = () => {
      clearTimeout(late);
      clearTimeout(still);
      socket.destroy();
      const text = Buffer.concat(chunks).toString("latin1");
      const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)/m.exec(text)?.[1] ?? 0);
      resolve({ text, status, isClosed });
    };
    const late = setTimeout(end, limit);
    let still: NodeJS.Timeout | undefined;
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      clearTimeout(still);
      still = setTimeout(end, quiet);
    });
    socket.on("error", () => (isClosed = true));
    socket.on("end", () => (isClosed = true));
    socket.on("close", end);
  });

/** A connection that stays open; its answers are discarded. */
export const openSocket = (port: number): Socket =>
  connect({ port, host: "127.0.0.1", noDelay: true })
    .on("error", () => undefined)
    .resume();

/**
 * Sends a trivial request again and again, on its own connection and in its own thread, so that this program's work is
 * not measured. `stop` gives the longest wait in ms.
 */
export const watchWaits = async (port: number, path: string): Promise<{ stop: () => Promise<number> }> => {
  const worker = new Worker(new URL("waits.ts", import.meta.url), { workerData: { port, path } });
  // The first message says that it has begun.
  await once(worker, "message");
  return {
    async stop() {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage("stop");
      const [longest] = (await once(worker, "message")) as [number];
      await worker.terminate();
      return longest;
    },
  };
};

/** Carries out `count` tasks, a few at the same time. */
export const inParallel = async (
  count: number,
  width: number,
  task: (index: number) => Promise<void>,
): Promise<void> => {
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) await task(index);
  };
  await Promise.all(Array.from({ length: width }, work));
};
