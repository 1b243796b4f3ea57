import { editDistance } from "./editDistance.ts";
import type { GivenSetting } from "./givenSetting.ts";

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

/** Settings that there were before, and what holds in place of each. */
const former: Readonly<Record<string, string>> = {
  CONNECT_TIMEOUT_MS: "a connection to a backend may take 5 s",
  LEGACY_STUDIES: "the unsupported studies are those of the specification",
  READER_THREADS: "2 threads at most read large answers, one for each core at most",
  SLOW_REQUEST_MS: "a request is slow whose answer has not begun after 1 s",
};

/**
 * Removes former settings from what the file has `given`, so that an old configuration still starts. The result has a
 * warning for each source that has one.
 */
export const dropFormerSettings = (
  given: Map<string, GivenSetting>,
  environment: Readonly<Record<string, string | undefined>>,
): string[] =>
  Object.entries(former).flatMap(([name, now]) => {
    const sources = [given.get(name)?.from ?? "", environment[name] ? "in the environment" : ""];
    given.delete(name);
    return sources
      .filter((source) => source !== "")
      .map((source) => `${name} ${source} is not a setting any more and has no effect: ${now}`);
  });
