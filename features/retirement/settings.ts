import { z } from "zod";
import type { Settings, SettingsFragment } from "../../src/operation/index.ts";

const MAX_ENTRIES = 500;
const DAY = 24 * 3_600_000;

/** A text for which `isRight` is true; `allowed` says in an error what is allowed. */
const text = (allowed: string, isRight: (given: string) => boolean) =>
  z.string(allowed).refine(isRight, { error: allowed, abort: true });

const aPath = "a path such as /api/v1/json/data";
const path = z.string(aPath).regex(/^\/$|^(\/[\w.~:@,()-]+)+$/, aPath);

// It stands between < and > in a Link header.
const isUrl = (given: string): boolean => /^https?:\/\/[!#-;=?-~]+$/.test(given) && URL.canParse(given);
const isRootedPath = (given: string): boolean => /^\/(?!\/)[!#-;=?-~]*$/.test(given);
const link = text("a URL such as https://catalogue.example/move", isUrl);
const successor = text("a path such as /v1/datasets, or a URL", (given) => isRootedPath(given) || isUrl(given));

const anInstant = "an instant such as 2026-01-01T09:00:00Z";
const isInstant = (given: string): boolean => z.iso.datetime({ offset: true }).safeParse(given).success;
const instant = text(anInstant, isInstant).meta({ format: "date-time" });
const date = text(
  `a date such as 2026-01-01, or ${anInstant}`,
  (given) => isInstant(given) || z.iso.date().safeParse(given).success,
);

const deprecation = z
  .strictObject({ path, since: date, sunset: date.optional(), link: link.optional(), successor: successor.optional() })
  .refine(({ since, sunset }) => sunset === undefined || Date.parse(sunset) > Date.parse(since), {
    path: ["sunset"],
    message: "a time after since",
  });

const isWithinADay = (from: string, until: string): boolean => {
  const milliseconds = Date.parse(until) - Date.parse(from);
  return milliseconds > 0 && milliseconds <= DAY;
};

const brownout = z
  .strictObject({
    path,
    from: instant,
    until: instant.optional(),
    status: z.literal([410, 503], "410 or 503"),
    link: link.optional(),
  })
  .refine(({ from, until, status }) => (until === undefined ? status === 410 : isWithinADay(from, until)), {
    path: ["until"],
    message: "an instant after from, at most 24 hours later; a 410 for good has none",
  });

/** A deprecated legacy path: since when, until when, and where clients find more. */
export type Deprecation = z.infer<typeof deprecation>;

/**
 * A short time in which a path answers with an error, so that its remaining callers notice its end. Without `until`
 * the path is gone for good.
 */
export type Brownout = z.infer<typeof brownout>;

const shape = {
  DEPRECATED: z
    .array(deprecation)
    .max(MAX_ENTRIES, `at most ${MAX_ENTRIES} paths`)
    .refine((list) => new Set(list.map((entry) => entry.path)).size === list.length, "each path once")
    .default([])
    .describe(
      'Legacy paths that will go: `[{"path": "/api/v1/json/data", "since": "2026-01-01"}]`. Also `"sunset": "2027-01-01"`, `"link": "https://…"` and `"successor": "/v1/datasets"`',
    ),
  BROWNOUTS: z
    .array(brownout)
    .max(MAX_ENTRIES, `at most ${MAX_ENTRIES} windows`)
    .default([])
    .describe(
      'Times without legacy paths: `[{"path": "/api/v1", "from": "2026-12-01T09:00:00Z", "until": "2026-12-01T10:00:00Z", "status": 503}]`. 410 or 503, for at most 24 hours; a 410 without `until` is for good. Also `"link": "https://…"`',
    ),
};

const errorsOf = ({ DEPRECATED, BROWNOUTS, PREFIXES }: RetirementSettings): string[] =>
  Object.entries({ DEPRECATED, BROWNOUTS }).flatMap(([name, entries]) =>
    entries
      .filter((entry) => PREFIXES.some((prefix) => prefix !== "/" && `${entry.path}/`.startsWith(`${prefix}/`)))
      .map(
        (entry) => `${name}: ${entry.path} given, which PREFIXES has for the new interface; allowed are legacy's paths`,
      ),
  );

export const settings = {
  shape,
  errorsOf,
  group: "Migration and retirement",
  reloadable: ["DEPRECATED", "BROWNOUTS"],
} satisfies SettingsFragment;

export type RetirementSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
