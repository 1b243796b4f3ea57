import { existsSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { CheckReport } from "../../libraries/check/checkReport.ts";
import { checkDirectory } from "../../libraries/stores/checkDirectory.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { bytes } from "../../libraries/ui/wording.ts";
import type { Core, OpenSecondTier, TierOptions } from "../../src/gateway/index.ts";
import { DiskTier, results } from "./diskTier.ts";
import { entryFileIn, freeRoom } from "./entryFile.ts";
import { diskCacheEvents } from "./events.ts";
import type { DiskCacheSettings } from "./settings.ts";

/** Opens the second tier of the cache, on the disk. */
const open = ({ DATA_DIR, CACHE_DISK_BYTES }: DiskCacheSettings) => {
  const directory = DATA_DIR as string;
  const most = CACHE_DISK_BYTES as number;
  let tier: DiskTier | undefined;
  let hits = 0;

  return {
    /** `--check` opens no tier: a gateway that runs has the file. */
    openTier({ meter, observer, dependencies, isCheck, onRestored }: TierOptions): OpenSecondTier | undefined {
      if (isCheck) return undefined;
      const calls = meter.counter("disk_cache_calls_total", "Requests to the cache's disk.", ["call", "result"]);
      for (const [call, known] of Object.entries(results)) for (const result of known) calls(call, result);
      const report = dependencies.add("disk_cache", {
        trouble: "The cache’s disk has been failing",
        effect: "answers come from memory and legacy alone",
      });
      let isUp = true;
      const opened = new DiskTier({
        directory,
        bytes: most,
        onRestored,
        onEmptied: (why) => observer.event("disk_cache_emptied", { why }),
        report(isUpNow, why) {
          if (isUpNow !== isUp) observer.event(isUpNow ? "disk_cache_up" : "disk_cache_lost", { why });
          isUp = isUpNow;
          report(isUp, why);
        },
        count(call, result) {
          calls(call, result).value++;
          if (result === "hit") hits++;
        },
      });
      meter.gauge("disk_cache_bytes", "Bytes in use of the cache's file.", () => opened.size().bytes);
      meter.gauge("disk_cache_entries", "Entries in the cache's file.", () => opened.size().entries);
      tier = opened;
      return () => opened;
    },
    /** Resolves when it is known whether the file has entries, or not in time. */
    async open(core: Pick<Core, "dependencies" | "traffic">) {
      await tier?.opened();
      const fromDisk = watchOutages(core, () => hits);
      const console: ConsolePart = {
        cacheView: () => ({ disk: { bound: most, ...tier?.size(), ofLastOutage: fromDisk() } }),
        page: async () => (await import("./page.ts")).diskCachePage(() => tier?.size(), fromDisk),
      };
      const check = async ({ row }: CheckReport): Promise<void> => {
        const why = await checkDirectory(directory, { onHanging: () => undefined });
        if (why !== undefined) return row(false, "CACHE_DISK_BYTES", why, "correct DATA_DIR");
        // A missing directory is made at the start.
        const left = freeRoom(await statfs(existsSync(directory) ? directory : dirname(directory)));
        // The cache may have taken all that it can use.
        const free = left + ((await stat(entryFileIn(directory)).catch(() => undefined))?.size ?? 0);
        const found = `${bytes(Math.max(0, Math.min(free, most)))} of ${bytes(most)} can be used: a tenth of the disk stays free, and at least 1 GiB`;
        row(free > 0, "CACHE_DISK_BYTES", found, "make room on the disk of DATA_DIR");
      };
      return { console, check };
    },
  };
};

/** The share of the requests of the last outage of legacy that were answered from the disk; `undefined` before one. */
const watchOutages = ({ dependencies, traffic }: Pick<Core, "dependencies" | "traffic">, hits: () => number) => {
  let outage: { requests: () => number; hits: () => number } | undefined;
  let isFailing = false;
  dependencies.onChange(() => {
    const wasFailing = isFailing;
    isFailing = dependencies.states().some(({ name, state }) => name === "legacy" && state === "failed");
    if (isFailing && !wasFailing) {
      const [since, before] = [traffic.sinceNow(), hits()];
      outage = { requests: () => since().requests, hits: () => hits() - before };
    } else if (wasFailing && !isFailing && outage) {
      const [requests, ofDisk] = [outage.requests(), outage.hits()];
      outage = { requests: () => requests, hits: () => ofDisk };
    }
  });
  return (): number | undefined => outage && outage.hits() / Math.max(1, outage.requests());
};

export const feature = { open, events: diskCacheEvents };
