import { z } from "zod";
import { trustedProxies } from "../network/addresses.ts";

const integer = (least: number, most: number, byDefault: number) => z.int().min(least).max(most).default(byDefault);
/** Milliseconds, at most an hour. */
const milliseconds = (byDefault: number) => integer(1, 3_600_000, byDefault);
/** A number from 1 to 100,000. */
const count = (byDefault: number) => integer(1, 100_000, byDefault);
/** Bytes, from 1 KiB to `most` (default: 1 GiB). */
const bytes = (byDefault: number, most = 1024 ** 3) => integer(1024, most, byDefault);

/** An origin, without a slash at its end. */
const origin = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^/?#@]+\/?$/.test(text) && URL.canParse(text),
    "an origin such as http://127.0.0.1:8080, without a path",
  )
  .transform((text) => text.replace(/\/$/, ""));
/** A URL with or without a path, without a slash at its end. */
const baseUrl = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^/?#@\s]+(\/[A-Za-z0-9_.~-]+)*\/?$/.test(text) && URL.canParse(text),
    "a URL such as http://127.0.0.1:9000 or http://127.0.0.1:9000/v1",
  )
  .transform((text) => text.replace(/\/$/, ""));
const host = z.string().regex(/^[A-Za-z0-9._:[\]-]+$/, "a host name or address");
/** A path without a slash at its end, or `/`. */
const prefix = z.string().regex(/^\/$|^(\/[A-Za-z0-9_.~-]+)+$/, "a path such as /v1, or /");
/** Addresses and networks such as `10.0.0.0/8`; default: none. */
const networks = z
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
  });

/** What settings are made of. */
export const fields = { integer, milliseconds, count, bytes, origin, baseUrl, host, prefix, networks };
