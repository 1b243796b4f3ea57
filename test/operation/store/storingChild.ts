import { z } from "zod";
import { openStores } from "../../../src/operation/store/openStores.ts";

/**
 * `storingChild.ts directory [how]`: stores values without end, and prints each key when it is stored. `full`: values that are too large for the
 * disk, then small ones. `twice`: two values, and what becomes of them until storing works.
 */
const [directory = "", how] = process.argv.slice(2);
const say = (text: string) => void process.stdout.write(`${text}\n`);
const isUp = Promise.withResolvers<void>();
const stores = await openStores({
  REDIS_URL: undefined,
  DATA_DIR: directory,
  onEvent(name, about) {
    say(`${name} ${JSON.stringify(about)}`);
    if (name === "store_up") isUp.resolve();
  },
});
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
