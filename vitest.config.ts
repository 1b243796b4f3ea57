import { defineConfig } from "vitest/config";

export default defineConfig({
  // One module graph a worker: files that change what is global (clocks, spies) put it back.
  test: { include: ["test/**/*.test.ts"], testTimeout: 20_000, pool: "threads", maxWorkers: 3, isolate: false },
});
