import { readFileSync, writeFileSync } from "node:fs";
import { endpoints } from "../../../transforms/index.ts";
import { documentsWithTables, withTables } from "./tables.ts";

for (const path of documentsWithTables) {
  const file = new URL(`../../../${path}`, import.meta.url);
  writeFileSync(file, withTables(readFileSync(file, "utf8"), endpoints));
}
