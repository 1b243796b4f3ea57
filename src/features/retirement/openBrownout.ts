import { isBelow } from "../../http/requestTarget.ts";
import type { Brownout } from "./schemas.ts";

/** The brown-out that is on at this time for a path: of several the longest path's, then the one that ends last. */
export const openBrownout = (brownouts: readonly Brownout[]): ((path: string, now: number) => Brownout | undefined) => {
  const windows = brownouts
    .map((brownout) => ({
      brownout,
      below: brownout.path === "/" ? "" : brownout.path,
      from: Date.parse(brownout.from),
      until: Date.parse(brownout.until),
    }))
    .toSorted((a, b) => b.below.length - a.below.length || b.until - a.until);
  return (path, now) =>
    windows.find(({ from, until, below }) => from <= now && now < until && isBelow(path, below))?.brownout;
};
