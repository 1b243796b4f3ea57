import { z } from "zod";
import { trustedProxies } from "../network/addresses.ts";
import { readText } from "./readText.ts";

const integer = (least: number, most: number, byDefault: number) => z.int().min(least).max(most).default(byDefault);

/** A text that matches this pattern. An error says what is `allowed`, also if the value is not a text. */
const text = (allowed: string, pattern: RegExp) => z.string(allowed).regex(pattern, allowed);

/** The value of `LEGACY_URL` that starts a sample legacy server beside the gateway. */
export const SAMPLE = "sample";

const anOrigin = `an origin such as http://127.0.0.1:8080, without a path, or ${SAMPLE}`;
const aUrl = "a URL such as http://127.0.0.1:9000 or http://127.0.0.1:9000/v1";

/** The largest file that a setting may name, in bytes. */
const MAX_FILE = 1024 ** 2;

/** A setting read from a file, or the reasons why the file cannot be used. */
export type ReadFile<T> = { value: T } | { errors: string[] };

/**
 * The path of a file: the setting's value is the result of `read` for its text. An error says what is `allowed`, and
 * what is wrong with this file. A text in `names` is not a path, and stays unchanged.
 */
const file = <T, const Name extends string = never>(
  allowed: string,
  read: (content: string) => ReadFile<T>,
  names: readonly Name[] = [],
) =>
  z
    .string(allowed)
    .min(1, allowed)
    .transform((path, context): T | Name => {
      const name = names.find((known) => known === path);
      if (name !== undefined) return name;
      const found = readText(path, MAX_FILE);
      const result = "why" in found ? { errors: [`it cannot be read (${found.why})`] } : read(found.text);
      if ("value" in result) return result.value;
      for (const error of result.errors) context.addIssue({ code: "custom", message: `${allowed}: ${error}` });
      return z.NEVER;
    });

/** The types of settings. */
export const fields = {
  integer,
  /** Milliseconds, at most an hour. */
  milliseconds: (byDefault: number) => integer(1, 3_600_000, byDefault),
  /** A number from 1 to 100,000. */
  count: (byDefault: number) => integer(1, 100_000, byDefault),
  /** Bytes, from 1 KiB to `most` (default: 1 GiB). */
  bytes: (byDefault: number, most = 1024 ** 3) => integer(1024, most, byDefault),
  text,
  /** The origin of legacy, without a slash at its end, or `SAMPLE`. */
  legacy: z
    .string(anOrigin)
    .refine((given) => given === SAMPLE || (/^https?:\/\/[^/?#@]+\/?$/.test(given) && URL.canParse(given)), anOrigin)
    .overwrite((given) => given.replace(/\/$/, "")),
  /** A URL with or without a path, without a slash at its end. */
  baseUrl: z
    .string(aUrl)
    .refine((given) => /^https?:\/\/[^/?#@\s]+(\/[A-Za-z0-9_.~-]+)*\/?$/.test(given) && URL.canParse(given), aUrl)
    .overwrite((given) => given.replace(/\/$/, "")),
  host: text("a host name or address", /^[A-Za-z0-9._:[\]-]+$/),
  /** A path without a slash at its end, or `/`. */
  prefix: text("a path such as /v1, or /", /^\/$|^(\/[A-Za-z0-9_.~-]+)+$/),
  key: text("1-64 letters and digits", /^[A-Za-z0-9]{1,64}$/),
  file,
  /** Addresses and networks such as `10.0.0.0/8`; default: none. */
  networks: z
    .array(z.string())
    .default([])
    .meta({ examples: [["127.0.0.1", "10.0.0.0/8"]] })
    .superRefine((list, context) => {
      try {
        trustedProxies(list);
      } catch (error) {
        context.addIssue({
          code: "custom",
          message: `addresses or networks such as 10.0.0.0/8 (${(error as Error).message})`,
        });
      }
    }),
};
