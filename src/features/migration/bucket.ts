import { hash } from "node:crypto";

/** Of a hundred, the one a caller is always in: every gateway puts it into the same, and no key can be read out of it. */
export const bucketOf = (caller: string): number =>
  Math.floor((Number.parseInt(hash("sha256", caller, "hex").slice(0, 8), 16) / 2 ** 32) * 100);
