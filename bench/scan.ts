import { setTimeout as sleep } from "node:timers/promises";
import { startGateway } from "./gateway.ts";
import { peakMegabytes, residentMegabytes, start, stop } from "./processes.ts";
import { temporaryFolder } from "../test/support/temporaryFolder.ts";

const LOOK = 500;

/** Measures the first scan for 40 private datasets among 50,000 ids, 6,000 of them listed: its requests to legacy, time and memory. */
export const benchScan = async (): Promise<void> => {
  const legacy = await start(undefined, [process.execPath, "bench/peers/sparseLegacy.ts"], /http:\S+/);
  const settings = {
    LEGACY_ADMIN_KEY: "AD000000000000000000000000000000",
    DATA_DIR: temporaryFolder(),
  };
  const idle = await startGateway(undefined, legacy.line);
  await sleep(LOOK);
  const without = residentMegabytes(idle.pid);
  await stop(idle.child);

  const started = performance.now();
  const gateway = await startGateway(undefined, legacy.line, settings);
  while ((await gateway.counted("catalog_gateway_private_scan_complete")) !== 1) await sleep(LOOK);
  const seconds = (performance.now() - started) / 1000;
  const calls = await gateway.counted("catalog_gateway_private_scan_calls_total");
  const rows = await gateway.counted("catalog_gateway_private_rows ");
  if (rows !== 40) throw new Error(`40 private datasets, and ${rows} were found`);
  console.log(
    `first scan of 50,000 ids: ${calls} requests to legacy, ${seconds.toFixed(0)} s while no caller uses legacy; ten a second would take ${(calls / 600).toFixed(0)} minutes`,
  );
  console.log(
    `  memory ${residentMegabytes(gateway.pid).toFixed(0)} MB at the end, ${peakMegabytes(gateway.pid).toFixed(0)} MB at its peak; a gateway that does not scan has ${without.toFixed(0)} MB after its start`,
  );
  await stop(gateway.child);
  await stop(legacy.child);
};
