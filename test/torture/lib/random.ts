import { crc32 } from "node:zlib";
import { pseudoRandom } from "../../../bench/pseudoRandom.ts";

/** Choices that a seed determines: the same seed makes the same choices. */
export type Random = {
  /** From 0 up to, but not including, 1. */
  number(): number;
  /** An integer from 0 up to, but not including, `below`. */
  integer(below: number): number;
  /** True in this share (0 to 1) of all calls. */
  chance(share: number): boolean;
  pick<T>(choices: readonly T[]): T;
};

/** Each `stream` of a seed makes choices of its own, so that concurrent clients do not depend on each other's order. */
export const openRandom = (seed: number, stream = 0): Random => {
  const number = pseudoRandom(scrambled(`${seed} ${stream}`));
  const integer = (below: number) => Math.floor(number() * below);
  return {
    number,
    integer,
    chance: (share) => number() < share,
    pick: (choices) => choices[integer(choices.length)] as (typeof choices)[number],
  };
};

/** A number from 0 to 2^32-1 that a text determines. */
export const scrambled = (text: string): number => {
  let mixed = crc32(text);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};
