import { editDistance } from "./editDistance.ts";

/** Variables that platforms and images set, and whose names differ from a setting's by one slip. */
const ordinary: ReadonlySet<string> = new Set(["PREFIX", "STAGE", "HOSTS", "PORTS"]);

/** In a name as short as `PORT`, another letter makes another word. */
const SHORT = 4;

/** True if two texts differ by one letter: replaced, added or removed, or if two letters changed places. */
const isOneOff = (a: string, b: string): boolean =>
  Math.abs(a.length - b.length) <= 1 &&
  editDistance(a, b) <= 1 &&
  (b.length > SHORT || a.length !== b.length || Array.from(a).every((letter) => b.includes(letter)));

const singular = (name: string): string => name.replace(/IES$/, "Y").replace(/(?<=X)ES$|S$/, "");

/** The name that was likely meant: `PREFXES` means `PREFIXES`, `getDatset` means `getDataset`. */
export const suggestName = (given: string, known: Iterable<string>): string | undefined => {
  const name = given.toUpperCase();
  return [...known].find((other) => {
    const upper = other.toUpperCase();
    return isOneOff(name, upper) || singular(name) === singular(upper);
  });
};

/**
 * A warning for each variable of the environment whose name is nearly that of a setting: `PROT` is likely to mean
 * `PORT`.
 */
export const slipWarnings = (
  environment: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): string[] =>
  Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || value === "" || known.has(name) || ordinary.has(name)) return [];
    // A lower-case word such as `port` is a variable of a shell; `legacy_url` is not.
    const suggested = name === name.toUpperCase() || name.includes("_") ? suggestName(name, known) : undefined;
    return suggested === undefined
      ? []
      : [`${name} in the environment is not a setting and has no effect: is ${suggested} meant?`];
  });
