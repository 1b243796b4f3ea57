import about from "../../../package.json" with { type: "json" };
import { buildId } from "./buildId.ts";
import type { Sample } from "./series.ts";

/**
 * What runs: the version of the package, the build of the code and of Node. The build is `unknown` where its files are
 * not there, as in a bundle.
 */
export const buildInfo = (): Sample => ({
  labels: { version: about.version, build: knownBuild(), node: process.version },
  value: 1,
});

const knownBuild = (): string => {
  try {
    return buildId();
  } catch {
    return "unknown";
  }
};
