import { defineConfig } from "vitest/config";
import { unitTests } from "./test/support/unitTests.ts";

/** The unit lane tries fewer cases of each property. */
const isUnit = process.env["LANE"] === "unit";
if (isUnit) process.env["CASES"] ??= "20";

export default defineConfig({
  test: {
    include: isUnit ? unitTests() : ["test/**/*.test.ts"],
    setupFiles: isUnit ? ["test/support/fewerCases.ts"] : [],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    pool: "threads",
    // The whole run mostly waits for processes and sockets, so two cores have room for four. The unit lane never waits.
    maxWorkers: isUnit ? 2 : 4,
    // A few tests compare times of real processes and sockets: on a machine that others use too, one of 5,350 may fail by chance.
    retry: process.env["CI"] ? 1 : 0,
    // One module graph a worker: files that change what is global (clocks, spies) put it back.
    isolate: false,
  },
});
