import { join } from "node:path";
import { root } from "../compile.ts";
import { buildPackage } from "./buildPackage.ts";

const [folder = join(root, "dist")] = process.argv.slice(2);
buildPackage(folder);
