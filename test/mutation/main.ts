import { Option } from "commander";
import type { Endpoint } from "../../src/catalogue/endpoint/endpoint.ts";
import { severalOf } from "../../tools/optionValues.ts";
import { endpoints } from "../../transforms/index.ts";
import { runCheck } from "../support/runCheck.ts";
import { findingsOf } from "./byCompare.ts";
import { openTests } from "./byTests.ts";
import { mutated, mutantsOf } from "./mutants.ts";

const known: Readonly<Record<string, Endpoint>> = endpoints;

type Options = { endpoint?: string[]; only?: "compare" | "tests" };

/** The searches that have found a mutant; unset for a search that was not run. */
type Found = { compare?: boolean; tests?: string | undefined };

const run = async ({ endpoint: wanted, only }: Options): Promise<boolean> => {
  const mutants = mutantsOf(known).filter(({ endpoint }) => wanted?.includes(endpoint) ?? true);
  const baseline = new Map(
    Object.entries(known).map(([name, endpoint]) => [name, new Set(findingsOf(name, endpoint))]),
  );
  const tests = only === "compare" ? undefined : await openTests();
  let survivors = 0;
  const score = { compare: 0, tests: 0 };
  for (const mutant of mutants) {
    const endpoint = known[mutant.endpoint] as Endpoint;
    const found: Found = {};
    if (only !== "tests") {
      const output = mutated(endpoint.output, mutant);
      const before = baseline.get(mutant.endpoint) as Set<string>;
      const after = new Set(findingsOf(mutant.endpoint, { ...endpoint, output }));
      found.compare = before.size !== after.size || [...after].some((finding) => !before.has(finding));
    }
    if (tests) found.tests = await tests.find(mutant);
    if (found.compare) score.compare++;
    if (found.tests !== undefined) score.tests++;
    const isFound = found.compare === true || found.tests !== undefined;
    if (!isFound) survivors++;
    const by = [found.compare ? "compare" : "", found.tests === undefined ? "" : `tests (${found.tests})`].filter(
      Boolean,
    );
    console.log(
      [
        isFound ? "found   " : "SURVIVES",
        mutant.endpoint.padEnd(24),
        (mutant.place || "(whole)").padEnd(34),
        `${mutant.rule} ${mutant.how}`.padEnd(24),
        by.join(", "),
      ].join(" "),
    );
  }
  await tests?.close();
  console.log(
    `${mutants.length} mutants: ${score.compare} found by compare, ${score.tests} by the tests, ${survivors} by neither`,
  );
  return survivors === 0;
};

await runCheck(
  "check:mutate",
  (command) =>
    command
      .description(
        "Breaks each rule at each place of the rule trees, once left out and once with another result, and shows who finds it: the comparison over the fixtures, and the tests.",
      )
      .option("--endpoint <name>", "only this endpoint; may be given several times", severalOf(Object.keys(known)))
      .addOption(new Option("--only <who>", "who looks").choices(["compare", "tests"]))
      .addHelpText("after", "\nExit code: 0 every one is found, 1 some survive, 2 it could not run."),
  run,
);
