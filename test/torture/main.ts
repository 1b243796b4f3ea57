import { attacks } from "./attacks/index.ts";
import type { Check } from "./lib/attack.ts";
import { runAttack } from "./lib/context.ts";
import { killPrograms } from "./lib/program.ts";
import { type Options, readOptions, usageOf } from "./options.ts";
import { openProgress, tableOf } from "./report.ts";

const run = async ({ requests, seed, only }: Options): Promise<boolean> => {
  const chosen = attacks.filter(({ name }) => only.length === 0 || only.includes(name));
  console.log(`seed ${seed}, ${requests} requests in the fuzz`);
  const results: { name: string; seconds: number; checks: Check[] }[] = [];
  for (const attack of chosen) {
    const progress = openProgress(process.stdout, attack.name);
    const began = performance.now();
    const checks = await runAttack(attack, { seed, requests, progress: progress.say });
    progress.end();
    const seconds = (performance.now() - began) / 1000;
    results.push({ name: attack.name, seconds, checks });
    console.log(`\n${attack.name} (${seconds.toFixed(0)} s). ${attack.what}`);
    for (const { holds, what, measured, bound } of checks)
      console.log(`  ${holds ? "held  " : "FAILED"} ${what}: ${measured} (${bound})`);
  }
  console.log(`\n${tableOf(results)}`);
  const again = only.map((name) => ` --only ${name}`).join("");
  console.log(`\nThe same again: npm run check:torture -- --seed ${seed} --requests ${requests}${again}`);
  return results.every(({ checks }) => checks.every(({ holds }) => holds));
};

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(2));
process.on("exit", killPrograms);

const names = attacks.map(({ name }) => name);
const options = readOptions(process.argv.slice(2), names);
if (options === "help") console.log(usageOf(attacks));
else if ("error" in options) {
  console.error(`${options.error}\n\n${usageOf(attacks)}`);
  process.exitCode = 2;
} else {
  try {
    process.exitCode = (await run(options)) ? 0 : 1;
  } catch (error) {
    console.error(error);
    process.exitCode = 2;
  }
  // Connections that an attack left open do not hold the program up.
  process.exit();
}
