import { parseArgs } from "node:util";
import { tellStory } from "./story.ts";

const usage = `npm run demo:migration -- [--requests N] [--help]

A migration from beginning to end over the sample catalogue, with a stand-in for the new implementation: faults are planted in it and found in the shadow,
fixed, promoted by the gate, a regression is demoted, and in the end everything is modern. Exit code: 0 all went as it should, 1 not, 2 it could not run.`;

const run = async (requests: number): Promise<void> => {
  const {
    planted,
    found,
    missed,
    falsely,
    drift,
    demoted,
    stages,
    failed,
    requests: asked,
  } = await tellStory(requests, console.log);
  const allModern = Object.values(stages).every((stage) => stage === "modern");
  for (const one of missed) console.log(`missed: ${one}`);
  for (const one of falsely) console.log(`false: ${one}`);
  console.log(
    `${asked} requests, ${failed} of them failed; ${found.length} of ${planted.length} planted differences found, ${falsely.length} false; ${drift.taken} of ${drift.planted} passing ones taken for more; the regression was ${demoted ? "" : "NOT "}demoted; ${allModern ? "all is modern" : "NOT all is modern"}`,
  );
  process.exitCode = missed.length + falsely.length + drift.taken + failed === 0 && demoted && allModern ? 0 : 1;
};

try {
  const { values } = parseArgs({
    options: { requests: { type: "string", default: "20000" }, help: { type: "boolean" } },
  });
  const requests = Number(values.requests);
  if (values.help) console.log(usage);
  else if (!Number.isInteger(requests) || requests < 500) {
    console.error(`--requests: ${JSON.stringify(values.requests)} given; allowed is an integer from 500`);
    process.exitCode = 2;
  } else await run(requests);
} catch (error) {
  console.error(error instanceof TypeError ? error.message : error);
  process.exitCode = 2;
}
