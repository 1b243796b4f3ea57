import { setTimeout as sleep } from "node:timers/promises";
import { startGateway } from "./gateway.ts";
import { peakMegabytes, residentMegabytes, start, stop } from "./processes.ts";
import { temporaryDirectory } from "./temporaryDirectory.ts";

/** Far above the default rate; PRIVATE_WALK_RATE sets another one. */
const RATE = process.env["PRIVATE_WALK_RATE"] ?? "2000";
const DEFAULT_RATE = 10;
const LOOK = 500;

/** Measures the search for 40 private datasets among 50,000 ids, 6,000 of them listed: its requests to legacy, time and memory. */
export const benchWalk = async (): Promise<void> => {
  const legacy = await start(undefined, [process.execPath, "bench/peers/sparseLegacy.ts"], /http:\S+/);
  const settings = {
    LEGACY_ADMIN_KEY: "AD000000000000000000000000000000",
    PRIVATE_WALK_RATE: RATE,
    DATA_DIR: temporaryDirectory("walk"),
  };
  const idle = await startGateway(undefined, legacy.line);
  await sleep(LOOK);
  const without = residentMegabytes(idle.pid);
  await stop(idle.child);

  const started = performance.now();
  const gateway = await startGateway(undefined, legacy.line, settings);
  while ((await gateway.counted("catalog_gateway_private_index_complete")) !== 1) await sleep(LOOK);
  const seconds = (performance.now() - started) / 1000;
  const calls = await gateway.counted("catalog_gateway_private_walk_calls_total");
  const rows = await gateway.counted("catalog_gateway_private_rows ");
  if (rows !== 40) throw new Error(`40 private datasets, and ${rows} were found`);
  console.log(
    `walk over 50,000 ids: ${calls} requests to legacy, ${seconds.toFixed(0)} s at ${RATE} a second at most; at the default ${DEFAULT_RATE} a second ${(calls / DEFAULT_RATE / 60).toFixed(0)} minutes`,
  );
  console.log(
    `  memory ${residentMegabytes(gateway.pid).toFixed(0)} MB at the end, ${peakMegabytes(gateway.pid).toFixed(0)} MB at its peak; a gateway that does not walk has ${without.toFixed(0)} MB after its start`,
  );
  await stop(gateway.child);
  await stop(legacy.child);
};
