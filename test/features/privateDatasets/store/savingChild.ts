import type { PrivateRow } from "../../../../src/endpoint/privateRows.ts";
import { fileStore } from "../../../../src/features/privateDatasets/store/fileStore.ts";
import { row, scope, walked } from "./rows.ts";

/** `savingChild.ts directory [nobody]`: learns one row after the other, for ever, and says so; the walk is as far as the last of them. */
const [directory = "", user] = process.argv.slice(2);
// Root may write anywhere; by now all that has to be read is read.
if (user === "nobody" && process.getuid?.() === 0) process.setuid?.(65_534);

const rows: PrivateRow[] = [];
const store = await fileStore({ directory, scope, delay: 1 })({
  snapshot: () => ({ rows, walk: walked(rows.length) }),
  onChange: (change) => void rows.push(...change.rows),
  onEvent: (event, about) => process.stderr.write(`${event} ${JSON.stringify(about)}\n`),
});
for (;;) {
  rows.push(row(rows.length + 1));
  store.save({ rows: rows.slice(-1), gone: [] });
  process.stdout.write(`${rows.length}\n`);
  await new Promise((resolve) => setTimeout(resolve, 1));
}
