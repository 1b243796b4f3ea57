import { InvalidArgumentError } from "commander";

/** Reads the value of an option: an integer from `least` to `most`; where 0 is allowed, with up to three decimals. */
export const numberFrom =
  (least: number, most = 10_000_000) =>
  (text: string): number => {
    const value = /^\d{1,10}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most && (least === 0 || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(`Allowed is a number from ${least} to ${most}.`);
  };

/** Reads an option that may be given several times: each time one of these names. */
export const severalOf =
  (names: readonly string[]) =>
  (name: string, before: string[] = []): string[] => {
    if (!names.includes(name)) throw new InvalidArgumentError(`Allowed are ${names.join(", ")}.`);
    return [...before, name];
  };
