import { createServer } from "node:net";

/** Ports below those that systems give to listeners on port 0, so that no other test gets one of these by chance. */
const LOWEST = 12_000;
const HIGHEST = 32_000;

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/**
 * A port of the loopback address that is free, and stays so while its server is down, unless it is
 * asked for by its number.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
};
