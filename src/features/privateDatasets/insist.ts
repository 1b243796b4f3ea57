import { setTimeout as sleep } from "node:timers/promises";
import type { Unheard } from "./look.ts";

/** Milliseconds until something is tried again, at first and at last; and where legacy does not take the key. */
const FIRST = 1000;
const LAST = 60_000;
/** After so many failures it is asked whether it is only this one, unless the caller says otherwise. */
const PATIENCE = 3;

export type InsistSettings = {
  /** False where nobody needs the answer any more. */
  goesOn: () => boolean;
  /** Told where trouble begins, and (`undefined`) where it ends. */
  onTrouble: (trouble: { kind: "failed" | "refused"; why: string } | undefined) => void;
  signal: AbortSignal;
  first?: number | undefined;
};

export type Insist = {
  /** Tries until there is an answer; gives `undefined` where it is over, and what failed where `isOnlyThis`. */
  <T extends object>(
    attempt: () => Promise<T | Unheard>,
    isOnlyThis?: () => Promise<boolean>,
    patience?: number,
  ): Promise<T | { failed: string } | undefined>;
};

export const openInsist =
  ({ goesOn, onTrouble, signal, first = FIRST }: InsistSettings): Insist =>
  async (attempt, isOnlyThis, patience = PATIENCE) => {
    const wait = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
    for (let failures = 0; goesOn();) {
      const heard = await attempt();
      if (!goesOn()) return undefined;
      if ("refused" in heard) {
        onTrouble({ kind: "refused", why: heard.refused });
        await wait(first * 60);
      } else if ("failed" in heard) {
        onTrouble({ kind: "failed", why: heard.failed });
        failures++;
        if (failures >= patience && (await isOnlyThis?.())) {
          onTrouble(undefined);
          return heard;
        }
        await wait(Math.min(first * 2 ** (failures - 1), LAST));
      } else {
        onTrouble(undefined);
        return heard;
      }
    }
    return undefined;
  };
