import { z } from "zod";
import { isDateOrInstant, isInstant } from "./instant.ts";

const MAX_ENTRIES = 500;
const DAY = 24 * 3_600_000;

const text = (pattern: RegExp, allowed: string) =>
  z
    .custom<string>((given) => typeof given === "string" && pattern.test(given), allowed)
    .meta({ type: "string", pattern: pattern.source });

const path = text(/^\/$|^(\/[\w.~:@,()-]+)+$/, "a path such as /api/v1/json/data");
// The URL between < and > in a Link header.
const link = z
  .custom<string>(
    (given) =>
      typeof given === "string" && /^https?:\/\/[^\s<>"]+$/.test(given) && isPrintable(given) && URL.canParse(given),
    "a URL such as https://catalogue.example/move",
  )
  .meta({ type: "string" });
const successor = z
  .custom<string>(
    (given) =>
      link.safeParse(given).success ||
      (typeof given === "string" && /^\/(?!\/)[^\s<>"]*$/.test(given) && isPrintable(given)),
    "a path such as /v1/datasets, or a URL",
  )
  .meta({ type: "string" });
const date = z
  .custom<string>(isDateOrInstant, "a date such as 2026-01-01, or an instant such as 2026-01-01T09:00:00Z")
  .meta({ type: "string" });
const instant = z
  .custom<string>(isInstant, "an instant such as 2026-01-01T09:00:00Z")
  .meta({ type: "string", format: "date-time" });

const isPrintable = (given: string): boolean => /^[\x21-\x7e]*$/.test(given);

const deprecation = z
  .strictObject({ path, since: date, sunset: date.optional(), link: link.optional(), successor: successor.optional() })
  .refine(({ since, sunset }) => sunset === undefined || Date.parse(sunset) > Date.parse(since), {
    path: ["sunset"],
    message: "a time after since",
  });

const brownout = z
  .strictObject({
    path,
    from: instant,
    until: instant,
    status: z.literal([410, 503], "410 or 503"),
    link: link.optional(),
  })
  .refine(({ from, until }) => Date.parse(until) > Date.parse(from) && Date.parse(until) - Date.parse(from) <= DAY, {
    path: ["until"],
    message: "an instant after from, at most 24 hours later",
  });

/** A deprecated legacy path: since when, until when, and where clients find more. */
export type Deprecation = z.infer<typeof deprecation>;

/** A short time in which a path answers with an error, so that its remaining callers notice its end. */
export type Brownout = z.infer<typeof brownout>;

/** The setting `DEPRECATED`: at most 500 paths, each once. */
export const deprecations = z
  .array(deprecation)
  .max(MAX_ENTRIES, `at most ${MAX_ENTRIES} paths`)
  .refine((list) => new Set(list.map((one) => one.path)).size === list.length, "each path once")
  .default([]);

/** The setting `BROWNOUTS`: at most 500. */
export const brownouts = z.array(brownout).max(MAX_ENTRIES, `at most ${MAX_ENTRIES} windows`).default([]);
