import { Pool } from "undici";
import { inParallel } from "../test/torture/lib/client.ts";
import { startGateway } from "./gateway.ts";
import { peakMegabytes, residentMegabytes, start, stop } from "./processes.ts";

const CLIENTS = 64;
const REQUESTS = 1_000_000;
/** Megabytes that the process may need in addition to the cache's bound. */
const BESIDE = 60;

/**
 * Sends distinct requests, half of them for datasets that exist. Returns the memory in MB at the start, and its growth.
 */
const flood = async (requests: number, settings: Record<string, string> = {}) => {
  const command = [process.execPath, "bench/peers/populatedLegacy.js"];
  const { line: legacy } = await start(undefined, command, /http:\/\/127\.0\.0\.1:\d+/);
  const gateway = await startGateway(undefined, legacy, settings);
  const pool = new Pool(gateway.url, { connections: CLIENTS, pipelining: 1 });
  const { pid } = gateway;
  const before = residentMegabytes(pid);
  await inParallel(requests, CLIENTS, async (i) => {
    const id = 1_000_001 + i;
    const { statusCode, body } = await pool.request({ method: "GET", path: `/v1/datasets/${id}` });
    await body.arrayBuffer();
    if (statusCode !== (id % 2 === 0 ? 404 : 200)) throw new Error(`dataset ${id}: answered ${statusCode}`);
  });
  const [grown, peak] = [residentMegabytes(pid) - before, peakMegabytes(pid) - before];
  const calls = Number(await (await fetch(`${legacy}/asked`)).text());
  if (calls !== requests) throw new Error(`${requests} distinct requests were ${calls} upstream calls`);
  const kept = await gateway.cache();
  await pool.destroy();
  await stop(gateway.child);
  return { before, grown, peak, kept };
};

/**
 * Measures the memory after a million requests, and that of a gateway without a cache, which shows Node's own share.
 */
export const benchMemory = async (): Promise<void> => {
  const { before, grown, peak, kept } = await flood(REQUESTS);
  const { entries, bytes, evicted, bound } = kept;
  const uncached = await flood(REQUESTS / 5, { CACHE_BYTES: "0" });
  const allowed = bound.bytes / 1e6 + BESIDE;
  console.log(
    `memory after ${REQUESTS} distinct requests: ${before.toFixed(0)} MB at the start, ${grown.toFixed(0)} MB more at the end, ${peak.toFixed(0)} MB more at its peak; against the bound and ${BESIDE} MB ${(grown / allowed).toFixed(2)} (aim: 1 at most, ${allowed.toFixed(0)} MB)`,
  );
  console.log(
    `  without a cache ${uncached.grown.toFixed(0)} MB more after ${REQUESTS / 5}; ${entries} entries, ${(bytes / 1e6).toFixed(1)} MB of ${(bound.bytes / 1e6).toFixed(1)} by the cache's own count, ${evicted} evicted`,
  );
};
