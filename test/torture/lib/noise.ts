import { watchWaits } from "./client.ts";
import { sleep } from "../../support/waiting.ts";

/** The longest wait for something trivial while nothing else happens, in ms: what this machine adds to any measured wait. */
export const noiseOf = async (port: number, path: string): Promise<number> => {
  const waits = await watchWaits(port, path);
  await sleep(1500);
  return waits.stop();
};
