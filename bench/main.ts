import { benchCache } from "./cache.ts";
import { benchCapacity } from "./capacity.ts";
import { benchHerd } from "./herd.ts";
import { benchLog } from "./log.ts";
import { benchMemory } from "./memory.ts";
import { benchMiss } from "./miss.ts";
import { benchMirror } from "./mirror.ts";
import { benchPassThrough } from "./passThrough.ts";
import { benchStartup } from "./startup.ts";
import { benchTransform } from "./transform.ts";
import { benchZipf } from "./zipf.ts";
import { benchScan } from "./scan.ts";
import { benchGateways } from "./gateways.ts";
import { readOptions, usage } from "./options.ts";
import { stopAll } from "./processes.ts";

const args = process.argv.slice(2);
const options = readOptions(args.filter((arg) => arg !== "--help"));

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    stopAll();
    process.exit(1);
  });

if (args.includes("--help")) console.log(usage);
else if (typeof options === "string") {
  console.error(`${options}\n\n${usage}`);
  process.exitCode = 2;
} else {
  try {
    const wanted = (section: string) => options.only === undefined || options.only === section;
    if (wanted("transform")) benchTransform(options);
    if (wanted("passthrough")) await benchPassThrough(options);
    if (wanted("startup")) await benchStartup();
    if (wanted("cache")) {
      await benchCache(options);
      await benchZipf();
      await benchHerd();
    }
    if (wanted("log")) await benchLog(options);
    if (wanted("miss")) await benchMiss(options);
    if (wanted("mirror")) await benchMirror(options);
    if (wanted("memory")) await benchMemory();
    if (wanted("scan")) await benchScan();
    if (wanted("gateways")) await benchGateways(options);
    if (wanted("capacity")) await benchCapacity(options);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    stopAll();
  }
  // The pipes of a worker that has not ended would keep this process alive.
  process.exit();
}
