import { checkImage } from "./image.ts";
import { checkInstall } from "./install.ts";
import { checkManifests } from "./manifests.ts";

const checks = { manifests: checkManifests, install: checkInstall, image: checkImage };
const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in checks));
if (unknown !== undefined) {
  console.error(`${unknown}: no check; there are ${Object.keys(checks).join(", ")}`);
  process.exit(2);
}
for (const [name, check] of Object.entries(checks)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  try {
    for (const line of await check()) console.log(line);
  } catch (error) {
    process.exitCode = 1;
    console.error(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
