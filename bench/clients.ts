import { Pool } from "undici";

export type ClientAnswer = { status: number; cacheStatus: string; bytes: Buffer };

export type Clients = {
  ask(path: string): Promise<ClientAnswer>;
  /** Asks so many times, all the clients at once. */
  run(requests: number, one: (i: number) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

/** So many clients of one server, each with its own kept connection. */
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
