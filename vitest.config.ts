import { defineConfig } from "vitest/config";
import { unitTests } from "./test/unitTests.ts";

export default defineConfig({
  test: {
    include: process.env["LANE"] === "unit" ? unitTests() : ["test/**/*.test.ts"],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    pool: "threads",
    // Most of the time is spent waiting for processes and sockets, so two cores have room for more than two.
    maxWorkers: 4,
    // One module graph a worker: files that change what is global (clocks, spies) put it back.
    isolate: false,
  },
});
