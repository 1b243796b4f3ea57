import { createVitest } from "vitest/node";
import type { Mutant } from "./mutants.ts";

/**
 * Runs the tests that look at the rules, each time over another tree; `find` gives the test that failed, or
 * `undefined` where all passed.
 */
export const openTests = async (): Promise<{
  find(mutant: Mutant): Promise<string | undefined>;
  close(): Promise<void>;
}> => {
  const vitest = await createVitest("test", {
    watch: false,
    run: true,
    // No `bail`: where two files fail at once, vitest cancels twice, ends the workers by force and loses their results.
    bail: 0,
    // Each file has its own modules, so that the setup changes the tree once.
    isolate: true,
    reporters: [{}],
    setupFiles: [`${import.meta.dirname}/setup.ts`],
    include: [
      "test/fixtures/fixtures.test.ts",
      "test/catalogue/rules/foreignTypes.test.ts",
      "test/fixtures/ruleCoverage.test.ts",
      "test/transforms/getFlow.test.ts",
    ],
  });
  const specifications = await vitest.globTestSpecifications();
  return {
    async find({ endpoint, steps, how }) {
      vitest.provide("mutant", { endpoint, steps, how });
      vitest.setGlobalTestNamePattern(new RegExp(`^${endpoint}\\b`));
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, true);
      if (unhandledErrors.length > 0) throw unhandledErrors[0];
      for (const testModule of testModules) {
        if (testModule.errors().length > 0) return testModule.relativeModuleId;
        for (const test of testModule.children.allTests("failed")) return test.fullName;
      }
      const unfinished = testModules.find((module) => ["queued", "pending"].includes(module.state()));
      if (unfinished) throw new Error(`${unfinished.relativeModuleId} did not run to its end`);
      const count = testModules.flatMap((module) => [...module.children.allTests("passed")]).length;
      if (count === 0) throw new Error(`no test of ${endpoint} ran`);
      return undefined;
    },
    close: () => vitest.close(),
  };
};
