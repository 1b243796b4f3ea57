import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../compile.ts";

type Lock = { packages: Record<string, { dev?: boolean; optional?: boolean }> };

/**
 * The clone's lock file without packages for development, without the runtime, and without packages of these names.
 * `own`: the content of the package.json beside it.
 */
export const productionLock = (own: object, without: readonly string[] = []): object => {
  const { packages, ...lock } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  const kept = Object.entries(packages).filter(
    ([path, { dev, optional }]) =>
      path !== "" && !dev && !optional && !without.some((name) => `${path}/`.startsWith(`node_modules/${name}/`)),
  );
  return { ...lock, packages: { "": own, ...Object.fromEntries(kept) } };
};
