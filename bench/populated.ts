import { type Clients, openClients } from "./clients.ts";
import { type RunningGateway, startGateway } from "./gateway.ts";
import { start } from "./processes.ts";

type Populated = {
  gateway: RunningGateway;
  clients: Clients;
  /** The number of requests that legacy has counted. */
  asked: () => Promise<number>;
};

/** Starts a gateway over a legacy of any size, and its clients. Processes are not pinned to cores: counts matter here, not times. */
export const startPopulated = async (
  clients: number,
  stub: Record<string, string> = {},
  settings: Record<string, string> = {},
): Promise<Populated> => {
  const address = /http:\/\/127\.0\.0\.1:\d+/;
  const { line } = await start(undefined, [process.execPath, "bench/peers/populatedLegacy.js"], address, stub);
  const gateway = await startGateway(undefined, line, settings);
  return {
    gateway,
    clients: openClients(gateway.url, clients),
    asked: async () => Number(await (await fetch(`${line}/asked`)).text()),
  };
};
