import { Pool } from "undici";

/** Clients that send requests at the same time. */
type Clients = {
  /** The status of the answer, which is read to its end. */
  ask(path: string): Promise<number>;
  /** Runs `one` so many times, spread over all clients. */
  run(requests: number, one: (i: number) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

/** Opens `count` clients of one server, each with a keep-alive connection. */
export const openClients = (url: string, count: number): Clients => {
  const pool = new Pool(url, { connections: count, pipelining: 1 });
  return {
    async ask(path) {
      const { statusCode, body } = await pool.request({ method: "GET", path });
      await body.arrayBuffer();
      return statusCode;
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
