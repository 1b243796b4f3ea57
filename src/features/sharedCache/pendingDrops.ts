import type { Invalidation } from "../../cache/sharedTier.ts";

/** Drops that Redis has not acknowledged, in order. */
export type PendingDrops = {
  add(drop: Invalidation): void;
  first(): Invalidation | undefined;
  /** It has arrived. */
  done(drop: Invalidation): void;
};

/** More become one that drops everything. */
const MOST = 1000;

export const openPendingDrops = (): PendingDrops => {
  let drops: Invalidation[] = [];
  return {
    add(drop) {
      drops.push(drop);
      if (drops.length <= MOST) return;
      // What was written may still be going on, whatever else is dropped.
      const hold = Math.max(...drops.map((one) => one.hold ?? 0));
      drops = [{ all: true, ...(hold > 0 ? { hold } : {}) }];
    },
    first: () => drops[0],
    done(drop) {
      // Meanwhile all of them may have become one.
      if (drops[0] === drop) drops.shift();
    },
  };
};
