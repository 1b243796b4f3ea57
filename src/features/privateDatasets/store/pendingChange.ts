import { type Change, idsOf } from "../rows.ts";
import { isNothing, merged, without } from "./change.ts";

/** What this instance has learned and Redis does not have yet. */
export type PendingChange = {
  add(change: Change): void;
  /** Rows are waiting; how far the walk is may wait, it is of use only to the next one who walks. */
  isUrgent(): boolean;
  /** What was read, as it is with what waits here: that is newer. */
  over(read: Change, isWhole: boolean): Change;
  /**
   * Gives all of it away; where that does not work it waits on.
   *
   * Where only the reply was lost it is written twice, and takes the place of what another instance has learned of a row meanwhile; so may
   * whatever waited while Redis was away. No row stays wrong by that: the next walk looks again at all that are known, or were.
   */
  send(write: (change: Change) => Promise<boolean>): Promise<void>;
};

const nothing: Change = { rows: [], gone: [] };

/** `isWalker`: only who walks says how far the walk is; what waited while another one took over is old. */
export const openPendingChange = (isWalker: () => boolean): PendingChange => {
  let waiting = nothing;
  const forgetOldWalk = () => {
    if (!isWalker()) waiting = { ...waiting, walk: undefined };
  };
  return {
    add: (change) => void (waiting = merged(waiting, change)),
    isUrgent: () => idsOf(waiting).length > 0,
    over(read, isWhole) {
      if (read.walk !== undefined) forgetOldWalk();
      return isWhole ? merged(read, waiting) : without(read, waiting);
    },
    async send(write) {
      forgetOldWalk();
      if (isNothing(waiting)) return;
      const sent = waiting;
      waiting = nothing;
      let isKept = false;
      try {
        isKept = await write(sent);
      } finally {
        if (!isKept) waiting = merged(sent, waiting);
      }
    },
  };
};
