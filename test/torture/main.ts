import { numberFrom, severalOf } from "../../tools/optionValues.ts";
import { runCheck } from "../support/runCheck.ts";
import { attacks } from "./attacks/index.ts";
import { type Check, runAttack } from "./lib/attack.ts";

type Options = { requests: number; seed?: number; only: string[] };

const run = async ({ requests, seed = Math.floor(Math.random() * 2 ** 32), only }: Options): Promise<boolean> => {
  console.log(`seed ${seed}, ${requests} requests in each fuzz`);
  const failed: { name: string; check: Check }[] = [];
  for (const attack of attacks.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const began = performance.now();
    const checks = await runAttack(attack, { seed, requests });
    console.log(`\n${attack.name} (${((performance.now() - began) / 1000).toFixed(0)} s). ${attack.what}`);
    for (const check of checks) {
      const { holds, what, measured, bound } = check;
      console.log(`  ${holds ? "held  " : "FAILED"} ${what}: ${measured} (${bound})`);
      if (!holds) failed.push({ name: attack.name, check });
    }
  }
  console.log(failed.length === 0 ? "\nAll held." : "\nDid not hold:");
  for (const { name, check } of failed) console.log(`  ${name}, ${check.what}: ${check.measured.split("\n")[0]}`);
  const again = only.map((name) => ` --only ${name}`).join("");
  console.log(`The same again: npm run check:torture -- --seed ${seed} --requests ${requests}${again}`);
  return failed.length === 0;
};

const names = attacks.map(({ name }) => name);
const listed = attacks.map(({ name, what }) => `  ${name.padEnd(16)} ${what}`).join("\n");
await runCheck(
  "check:torture",
  (command) =>
    command
      .description("Attacks the real program. Each attack judges itself; the last ones are the fuzzes.")
      .option("--requests <n>", "requests of each fuzz", numberFrom(1, 100_000_000), 100_000)
      .option(
        "--seed <n>",
        "the same seed sends the same requests (default: another one at each run)",
        numberFrom(0, 2 ** 32 - 1),
      )
      .option("--only <name>", "only this attack; may be given several times", severalOf(names), [])
      .addHelpText("after", `\n${listed}\n\nExit code: 0 all held, 1 something did not, 2 it could not run.`),
  run,
);
