import { readFileSync, writeFileSync } from "node:fs";
import { endpoints } from "../../../transforms/index.ts";
import { withTables } from "./tables.ts";

const readme = new URL("../../../README.md", import.meta.url);
writeFileSync(readme, withTables(readFileSync(readme, "utf8"), endpoints));
