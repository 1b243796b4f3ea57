import { watchWaits } from "./client.ts";
import { sleep } from "../../support/waiting.ts";

/** The longest wait for a trivial request on an idle gateway, in ms: this machine's share of any measured wait. */
export const noiseOf = async (port: number, path: string): Promise<number> => {
  const waits = await watchWaits(port, path);
  await sleep(1500);
  return waits.stop();
};
