import { existsSync, readFileSync } from "node:fs";
import type { Settings } from "./settings.ts";

const LIMITS = "/proc/self/limits";

/** A warning where this process may open fewer files than `MAX_CLIENT_CONNECTIONS`. Only Linux tells. */
export const fileLimitWarnings = ({ MAX_CLIENT_CONNECTIONS }: Settings): string[] => {
  const limits = existsSync(LIMITS) ? readFileSync(LIMITS, "utf8") : "";
  const files = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  if (files > MAX_CLIENT_CONNECTIONS) return [];
  return [
    `MAX_CLIENT_CONNECTIONS: ${MAX_CLIENT_CONNECTIONS} connections, but this process may open ${files} files only: raise that limit (ulimit -n, LimitNOFILE), or set MAX_CLIENT_CONNECTIONS to less`,
  ];
};
