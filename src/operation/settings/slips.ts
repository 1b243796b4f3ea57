import { editDistance } from "./editDistance.ts";

/** Variables that platforms and images set, and that are one slip away from a setting. */
const ordinary: ReadonlySet<string> = new Set(["PREFIX", "STAGE", "HOSTS", "PORTS"]);

/** Of a name as short as `PORT`, another letter makes another word. */
const SHORT = 4;

/** Whether two texts differ by one letter: another, one more, one less, or two that changed places. */
const isOneOff = (a: string, b: string): boolean =>
  Math.abs(a.length - b.length) <= 1 &&
  editDistance(a, b) <= 1 &&
  (b.length > SHORT || a.length !== b.length || Array.from(a).every((one) => b.includes(one)));

const singular = (name: string): string => name.replace(/IES$/, "Y").replace(/(?<=X)ES$|S$/, "");

/** The name that another one is likely to mean: `PREFXES` means `PREFIXES`, `getDatset` means `getDataset`. */
export const suggestName = (given: string, known: Iterable<string>): string | undefined => {
  const name = given.toUpperCase();
  return [...known].find((other) => {
    const upper = other.toUpperCase();
    return isOneOff(name, upper) || singular(name) === singular(upper);
  });
};

/**
 * A warning for each variable of the environment whose name is nearly that of a setting: `PROT`
 * is likely to mean `PORT`.
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
