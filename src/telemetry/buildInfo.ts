import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildId } from "../cache/buildId.ts";
import type { Sample } from "./series.ts";

/** What runs: the version of the package, the build of the code and of Node. `unknown` where the files are not there, as in a bundle. */
export const buildInfo = (): Sample => (info ??= readInfo());

let info: Sample | undefined;

const readInfo = (): Sample => ({
  labels: { version: orUnknown(packageVersion), build: orUnknown(buildId), node: process.version },
  value: 1,
});

const packageVersion = (): string => {
  const text = readFileSync(join(import.meta.dirname, "../../package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
};

const orUnknown = (read: () => string): string => {
  try {
    return read();
  } catch {
    return "unknown";
  }
};
