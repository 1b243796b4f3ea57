import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { sqliteStore } from "../../src/store/sqliteStore.ts";

/**
 * `storingChild.ts directory [how]`: stores values without end, and prints each key when it is stored. `full`: values that are too large for the
 * disk, then small ones. `nobody`: runs as the system user of that name.
 */
const [directory = "", how] = process.argv.slice(2);
// Root may write anywhere. All modules are loaded by now, so the user can change.
if (how === "nobody" && process.getuid?.() === 0) process.setuid?.(65_534);

const say = (text: string) => void process.stdout.write(`${text}\n`);
const store = await sqliteStore({
  directory,
  name: "things",
  schema: () => z.strictObject({ name: z.string() }),
  isRebuildable: false,
  delay: 20,
  onChange: () => undefined,
  onEvent: (event, about) => say(`${event} ${JSON.stringify(about)}`),
});

if (how === "full") {
  const large = { name: "x".repeat(300_000) };
  await store.update("a", () => large).catch((error: Error) => say(`rejected ${error.message}`));
  await store.update("a", () => ({ name: "small" }));
  say([...store.entries().values()].map(({ name }) => name).join(" "));
  store.save(new Map([["b", large]]));
  await sleep(100);
  store.save(new Map([["b", { name: "small" }]]));
  await sleep(100);
  say([...store.entries()].map(([key, { name }]) => `${key}=${name}`).join(" "));
  await store.close();
  process.exit();
}
for (let i = store.entries().size + 1; ; i++) {
  await store.update(`${i}`, () => ({ name: `value ${i}` }));
  process.stdout.write(`${i}\n`);
}
