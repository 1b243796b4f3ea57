import type { Fault } from "../test/standIn/faults.ts";
import { startStandIn } from "../test/standIn/startStandIn.ts";

// `standIn.ts legacyUrl faults`: the stand-in in a process of its own, so that its work is not measured.
const [legacyUrl = "", faults = "[]"] = process.argv.slice(2);
const { url } = await startStandIn({ legacyUrl, faults: JSON.parse(faults) as Fault[] });
console.log(url);
