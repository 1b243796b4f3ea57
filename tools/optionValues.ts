import { InvalidArgumentError } from "commander";
import { suggestName, withoutUrlSecrets } from "../src/operation/index.ts";

/**
 * Makes the reader of an option: an integer from `least` to `most`; if 0 is allowed, also with up to three decimals.
 *
 * @throws The reader, an InvalidArgumentError for any other text.
 */
export const numberFrom =
  (least: number, most = 10_000_000) =>
  (text: string): number => {
    const value = /^\d{1,10}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most && (least === 0 || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(`Allowed is a number from ${least} to ${most}.`);
  };

/**
 * Makes the reader of an option that may be given several times, each time with one of these names.
 *
 * @throws The reader, an InvalidArgumentError for any other name.
 */
export const severalOf =
  (names: readonly string[]) =>
  (name: string, before: string[] = []): string[] => {
    if (names.includes(name)) return [...before, name];
    const meant = suggestName(name, names);
    throw new InvalidArgumentError(meant === undefined ? `Allowed are ${names.join(", ")}.` : `Is ${meant} meant?`);
  };

/**
 * Reads a URL, and removes slashes at its end. A user and a query are refused, since they would not be sent.
 *
 * @throws An Error that shows the text without its secrets.
 */
export const readUrl = (text: string): string => {
  if (/^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new Error(`${withoutUrlSecrets(text)} is no URL such as http://127.0.0.1:8080, without a user or a query`);
};

/** The settings for the URL of a legacy server: its origin and, if the URL has a path, the path of its interface. */
export const legacySettings = (url: string): { LEGACY_URL: string; LEGACY_PATH?: string } => {
  const { origin, pathname } = new URL(url);
  return { LEGACY_URL: origin, ...(pathname === "/" ? {} : { LEGACY_PATH: pathname }) };
};

/**
 * The key in the environment variable that `--key` names; `undefined` without `--key`. `minLength`: in characters.
 *
 * @throws An Error that shows no key, if the variable does not hold a key.
 */
export const readKeyVariable = (
  name: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  minLength: number,
): string | undefined => {
  if (name === undefined) return undefined;
  const key = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? environment[name] : undefined;
  // The message omits the name: someone may have given the key itself.
  if (key === undefined)
    throw new Error(
      "--key: no environment variable of this name is set; allowed is the name of one that holds the key",
    );
  if (new RegExp(`^[A-Za-z0-9]{${minLength},64}$`).test(key)) return key;
  throw new Error(`--key: what ${name} holds is no key; allowed are ${minLength} to 64 letters and digits`);
};
