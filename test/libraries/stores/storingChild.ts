import { z } from "zod";
import { isTemporary } from "../../../src/operation/settings/temporary.ts";
import { openStores } from "../../../libraries/stores/openStores.ts";

/**
 * `storingChild.ts directory [how]`: stores values without end, and prints each key when it is stored. `full`: values
 * that are too large for the disk, then small values. `twice`: two values, and their fate until storing works.
 * `impatient`: waits for the disk for a second only, and says whether that may pass.
 */
const [directory = "", how] = process.argv.slice(2);
const say = (text: string) => void process.stdout.write(`${text}\n`);
const isUp = Promise.withResolvers<void>();
const opening = openStores({
  REDIS_URL: undefined,
  DATA_DIR: directory,
  onEvent(name, about) {
    say(`${name} ${JSON.stringify(about)}`);
    if (name === "store_up") isUp.resolve();
  },
  ...(how === "impatient" && { hint: 1, patience: 1000 }),
});
if (how === "impatient")
  await opening.catch((error: Error) => {
    say(`${error.message} ${isTemporary(error)}`);
    process.exit(1);
  });
const stores = await opening;
const store = await stores.open({ feature: "things", schema: () => z.strictObject({ name: z.string() }) });

if (how === "full") {
  await store
    .update("a", () => ({ name: "x".repeat(300_000) }))
    .catch((error: Error) => say(`rejected ${error.message}`));
  await store.update("a", () => ({ name: "small" }));
  say([...store.entries()].map(([key, { name }]) => `${key}=${name}`).join(" "));
  await stores.close();
  process.exit();
}
if (how === "twice") {
  store.onChange((changes) => {
    for (const [key, value] of changes) say(`changed ${key}=${value?.name}`);
  });
  for (const key of ["a", "b"])
    await store.update(key, () => ({ name: "one" })).catch(({ message }: Error) => say(`rejected ${key}: ${message}`));
  await isUp.promise;
  say([...store.entries()].map(([key, { name }]) => `${key}=${name}`).join(" "));
  await stores.close();
  process.exit();
}
for (let i = store.entries().size + 1; ; i++) {
  await store.update(`${i}`, () => ({ name: `value ${i}` }));
  process.stdout.write(`${i}\n`);
}
