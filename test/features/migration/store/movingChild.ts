import { fileStore } from "../../../../src/features/migration/store/fileStore.ts";
import { moveOn } from "./moves.ts";

/** `movingChild.ts directory [nobody]`: moves one endpoint after the other, for ever, and says which second it has been told is kept. */
const [directory = "", user] = process.argv.slice(2);
// Root may write anywhere; by now all that has to be read is read.
if (user === "nobody" && process.getuid?.() === 0) process.setuid?.(65_534);

const store = await fileStore(directory, { onEvent: () => undefined });
const begun = store.state().audit.length;
for (let second = begun + 1; ; second++) {
  await moveOn(store, `getThing${second % 7}`, second);
  process.stdout.write(`${second}\n`);
}
