import { Pool } from "undici";

/** An answer; `cacheStatus`: its header, or an empty text. */
type ClientAnswer = { status: number; cacheStatus: string; bytes: Buffer };

/** Clients that send requests at the same time. */
export type Clients = {
  ask(path: string): Promise<ClientAnswer>;
  /** Runs `one` so many times, spread over all clients. */
  run(requests: number, one: (i: number) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

/** Opens `count` clients of one server, each with a keep-alive connection. */
export const openClients = (url: string, count: number): Clients => {
  const pool = new Pool(url, { connections: count, pipelining: 1 });
  return {
    async ask(path) {
      const { statusCode, headers, body } = await pool.request({ method: "GET", path });
      return {
        status: statusCode,
        cacheStatus: String(headers["cache-status"] ?? ""),
        bytes: Buffer.from(await body.arrayBuffer()),
      };
    },
    async run(requests, one) {
      let next = 0;
      const work = async () => {
        for (let i = next++; i < requests; i = next++) {
          if (process.stdout.isTTY && i % 1000 === 0) process.stdout.write(`\r${i} of ${requests}`);
          await one(i);
        }
      };
      await Promise.all(Array.from({ length: count }, work));
      if (process.stdout.isTTY) process.stdout.write("\r");
    },
    close: () => pool.destroy(),
  };
};
