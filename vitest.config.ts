import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { unitTests } from "./test/support/unitTests.ts";

const lane = process.env["LANE"];
/** The unit lane tries fewer cases of each property. */
const isUnit = lane === "unit";
if (isUnit) process.env["CASES"] ??= "20";

// Node's default: a thread or program that a test starts uses the code that others have compiled.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "node-compile-cache");

/** The core's tests, where a stub is in place of the features. */
const isCore = lane === "core";
const ofCore = ["catalogue", "fixtures", "gateway", "operation", "transforms"].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

/** The tests of the surroundings of the gateway, for `.ci/slow`. */
const slow = ["builds", "clients", "demo", "deploy", "monitoring", "restarts"].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

/** Files that wait for processes and sockets come first, the unit tests fill the gaps that they leave at the end. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const units = new Set(unitTests().map((file) => join(import.meta.dirname, file)));
    // oxlint-disable-next-line unicorn/no-array-sort -- it is vitest's, which copies
    const sorted = await super.sort(files);
    const [waiting = [], others = []] = [false, true].map((isOne) =>
      sorted.filter(({ moduleId }) => units.has(moduleId) === isOne),
    );
    return [...waiting, ...others];
  }
}

export default defineConfig({
  resolve: {
    alias: isCore
      ? [
          {
            find: /^.*\/features\/(index|settings)\.ts$/,
            replacement: join(import.meta.dirname, "test/support/noFeatures.ts"),
          },
        ]
      : [],
  },
  test: {
    include: isUnit ? unitTests() : lane === "slow" ? slow : isCore ? ofCore : ["test/**/*.test.ts"],
    exclude: lane === "slow" ? [] : slow,
    globalSetup: ["test/support/globalSetup.ts"],
    setupFiles: [`test/support/${isUnit ? "fewerCases" : "undiciTimer"}.ts`],
    // Failures and a summary.
    reporters: ["minimal"],
    // Limits for what hangs, not for what is slow: another run on the same machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "threads",
    // The whole run mostly waits for processes and sockets, so two cores have room for eight. The unit lane never waits.
    maxWorkers: isUnit ? 2 : 8,
    sequence: { sequencer: WaitingFirst },
    // One module graph a worker: files that change what is global (clocks, spies) put it back.
    isolate: false,
  },
});
