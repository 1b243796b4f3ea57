import { isBelow } from "../../http/requestTarget.ts";
import type { Brownout } from "./schemas.ts";

/** Finds the brown-out of a path at a time: the one with the longest path, then the one that ends last. */
export const openBrownout = (brownouts: readonly Brownout[]): ((path: string, now: number) => Brownout | undefined) => {
  const periods = brownouts
    .map((brownout) => ({
      brownout,
      below: brownout.path === "/" ? "" : brownout.path,
      from: Date.parse(brownout.from),
      until: Date.parse(brownout.until),
    }))
    .toSorted((a, b) => b.below.length - a.below.length || b.until - a.until);
  return (path, now) =>
    periods.find(({ from, until, below }) => from <= now && now < until && isBelow(path, below))?.brownout;
};
