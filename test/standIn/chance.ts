import { hash } from "node:crypto";
import { pseudoRandom } from "../../bench/pseudoRandom.ts";

/** Pseudo-random choices, the same in every run. */
export type Chance = {
  /** From 0 to below `most`. */
  below: (most: number) => number;
  /** From 0 to below `most`; twice as high is asked for half as often. */
  popular: (most: number) => number;
  /** True in so many of a hundred. */
  percent: (share: number) => boolean;
  of: <T>(choices: readonly T[]) => T;
};

export const chanceOf = (seed: string): Chance => {
  const random = pseudoRandom(hashOf(seed));
  const below = (most: number) => Math.floor(random() * most);
  return {
    below,
    // The inverse of a distribution whose density falls as 1/x (Zipf).
    popular: (most) => Math.min(most - 1, Math.floor((most + 1) ** random()) - 1),
    percent: (share) => random() * 100 < share,
    of: <T>(choices: readonly T[]) => choices[below(choices.length)] as T,
  };
};

/** A whole number from 0 to 2^32 - 1 that depends on nothing but the text. */
export const hashOf = (text: string): number => Number.parseInt(hash("sha256", text).slice(0, 8), 16);
