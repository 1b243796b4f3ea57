import { DatabaseSync } from "node:sqlite";
import { cachingOver } from "../../gateway/oldReads/support.ts";
import type { FakeLegacy } from "../../support/fakeLegacy.ts";
import { pageOfMetrics, valueOf } from "../../support/metrics.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

export const MiB = 1024 ** 2;

/**
 * A gateway with a disk, and with memory for some ten answers. Its timers are to be fake, so that the disk is never
 * late on a busy machine.
 */
export const gatewayOn = async (legacy: FakeLegacy, environment: Record<string, string> = {}) => {
  const settings = {
    DATA_DIR: temporaryFolder(),
    CACHE_DISK_BYTES: `${64 * MiB}`,
    CACHE_BYTES: "40000",
    ...environment,
  };
  const gateway = await cachingOver(legacy, settings);
  const { core, ask } = gateway;
  const { cache } = core;
  let others = 1000;
  return {
    ...gateway,
    given: settings,
    /** The number of calls of the disk with this result. */
    calls: async (call: string, result: string): Promise<number> => {
      const line = new RegExp(`disk_cache_calls_total\\{call="${call}",result="${result}"\\} (\\d+)`);
      return Number(line.exec(await pageOfMetrics(core.meter))?.[1]);
    },
    entries: () => valueOf(core.meter, "disk_cache_entries"),
    /** Reads other answers until memory has evicted all before them. They are then on the disk. */
    evict: async (): Promise<void> => {
      const { evicted, entries } = cache.size();
      while (cache.size().evicted < evicted + entries) await ask(`/v1/setup/${others++}`);
      await cache.invalidate({ groups: ["of nothing"] });
    },
  };
};

export type DiskGateway = Awaited<ReturnType<typeof gatewayOn>>;

/** Ends a gateway in order, and starts another on its disk. */
export const restart = async ({ legacy, given, server, close }: DiskGateway): Promise<DiskGateway> => {
  await server.stop(0);
  await close();
  return gatewayOn(legacy, given);
};

/** Sets the version of a database's format. */
export const setVersion = (file: string, version: number): void => {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
};
