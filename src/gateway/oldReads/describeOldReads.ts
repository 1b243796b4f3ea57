import type { Core } from "../answer/core.ts";

/** Says what `CACHE_LEGACY` does for old clients, or that it is not set. */
export const describeOldReads = ({ settings, keysAlone }: Pick<Core, "settings" | "keysAlone">): string => {
  const alone = keysAlone();
  if (alone !== undefined) return alone.line;
  const names = settings.CACHE_LEGACY;
  if (names.length === 0) return "old clients get only errors while legacy is down: CACHE_LEGACY is not set";
  const covered = names.includes("all")
    ? "all reads"
    : `reads of ${names.length} endpoint${names.length === 1 ? "" : "s"}`;
  return `${covered} of old clients come from the cache, and still do while legacy is down`;
};
