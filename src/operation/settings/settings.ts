import { z } from "zod";
import { type Duration, isDuration } from "../../catalogue/index.ts";
import { certificates } from "./certificates.ts";
import { fields, SAMPLE } from "./fields.ts";
import { suggestName } from "./slips.ts";

const corsOrigin = fields.text(
  "* or origins such as https://page.example, without a slash at the end",
  /^(\*|null|[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+)$/,
);
const duration = z
  .custom<Duration>((text) => typeof text === "string" && isDuration(text), "durations such as 90s, 10m, 24h or 7d")
  .meta({ type: "string", pattern: "^[0-9]{1,6}[smhd]$" });
const lifetimes = z.record(
  z.string(),
  z
    .strictObject({
      fresh: duration,
      staleWhileRevalidate: duration,
      staleIfError: duration,
      notFoundTtl: duration,
      preconditionTtl: duration,
    })
    .partial(),
);

/**
 * The settings of the core by heading: their names in the environment and in the file, their bounds and their purpose.
 */
const coreGroups = {
  "Where it listens": {
    PORT: fields.integer(0, 65_535, 8000).describe("Port of the public listener. 0 takes a free one"),
    HOST: fields.host.default("127.0.0.1").describe("Address of the public listener"),
    PREFIXES: z
      .array(fields.prefix)
      .min(1)
      .refine((list) => new Set(list).size === list.length, "each prefix once")
      .default(["/v1"])
      .meta({ examples: [["/v1", "/api/v2"]] })
      .describe("Path prefixes of the new interface. Under `/` it has its own paths only"),
    CORS_ORIGINS: z
      .array(corsOrigin)
      .default(["*"])
      .meta({ examples: [["https://page.example"]] })
      .describe("Origins whose pages may read answers"),
    TRUSTED_PROXIES: fields.networks.describe(
      "Addresses and networks (`10.0.0.0/8`) whose `X-Forwarded-*` and `Forwarded` are believed",
    ),
  },
  "The legacy server": {
    LEGACY_URL: fields.legacy
      .default(SAMPLE)
      .describe(
        "Origin of the legacy server, or `sample` for one that is started beside the gateway and invents all answers. Required where `NODE_ENV` is `production`",
      ),
    LEGACY_PATH: fields.prefix.default("/api/v1").describe("Path of legacy's interface, before `json` or `xml`"),
    LEGACY_HOST: fields.host
      .optional()
      .describe(
        "`Host` that legacy is addressed by. Without it: the client's for proxied requests, that of `LEGACY_URL` for the gateway's own",
      ),
    LEGACY_CA: certificates
      .optional()
      .describe(
        "File with the certificates (PEM) of the authorities that legacy's must come from. A renewed file needs a restart. Without it: those that Node trusts",
      ),
    LEGACY_API_KEY: fields.key
      .optional()
      .describe(
        "The gateway's own key, for what legacy answers only with one. Flow names with `=`, `+`, `/` and the like need it",
      ),
    MAX_CONNECTIONS: fields
      .count(64)
      .describe("Most connections to legacy: for transforms, for pass-through and for uploads each"),
    HEADERS_TIMEOUT_MS: fields.milliseconds(30_000).describe("Longest wait for legacy's first byte, in ms"),
    BODY_TIMEOUT_MS: fields.milliseconds(30_000).describe("Longest silence within a body, in ms"),
    TOTAL_TIMEOUT_MS: fields
      .milliseconds(60_000)
      .describe("Longest time for one answer of the new interface, in ms. Proxied requests have no such limit"),
  },
  Clients: {
    // A body is parsed at once: half a MiB takes 25 ms, at worst 55 (many distinct names). The largest valid body has
    // 110 KB (10,000 ids).
    MAX_BODY_BYTES: fields.bytes(128 * 1024, 512 * 1024).describe("Largest JSON body of a client, in bytes"),
    MAX_CLIENT_CONNECTIONS: fields
      .count(10_000)
      .describe("Most connections of clients. Beyond it the newest is answered 503"),
    DRAIN_DELAY_MS: fields
      .integer(0, 3_600_000, 5_000)
      .describe(
        "Time from SIGTERM until the port closes, in ms. Load balancers see `/readyz` meanwhile; 0 closes it at once",
      ),
    DRAIN_TIMEOUT_MS: fields
      .milliseconds(30_000)
      .describe("Longest time for requests in flight when the port has closed, in ms"),
  },
  "Large answers": {
    MAX_REPLY_BYTES: fields.bytes(32 * 1024 ** 2).describe("Largest answer of legacy to be transformed, in bytes"),
    MEMORY_BYTES: fields
      .integer(1024, 64 * 1024 ** 3, 256 * 1024 ** 2)
      .describe(
        "Most bytes of answers and bodies in memory: that are collected, wait to be read, or that clients have not taken yet; the last take half at most. What does not fit is answered 503. At least `MAX_REPLY_BYTES`",
      ),
  },
  "Cache and storage": {
    CACHE_BYTES: fields
      .integer(0, 64 * 1024 ** 3, 64 * 1024 ** 2)
      .describe(
        "Memory for cached answers, in bytes. Keys, headers and every encoding count; 0 switches the cache off",
      ),
    CACHE_LIFETIMES: lifetimes
      .default({})
      .describe(
        'Lifetimes of cached answers, by endpoint: `{"getDataset": {"fresh": "5m"}}`. Also `staleWhileRevalidate`, `staleIfError`, `notFoundTtl` and `preconditionTtl`; without it each endpoint\'s own',
      ),
    CACHE_LEGACY: z
      .array(z.string())
      .default([])
      .meta({ examples: [["all"], ["getDataset", "listRuns"]] })
      .describe(
        "Endpoints whose reads through legacy's interface are answered from the cache, also while legacy is down: their names, or `all`, with a few other reads. The same bytes, sooner",
      ),
  },
  "The log": {
    LOG_LEVEL: z
      .enum(["debug", "info", "warn", "error", "silent"])
      .default("info")
      .describe("Least level that is logged: `debug`, `info`, `warn`, `error` or `silent`"),
  },
};

const coreShape = {
  ...coreGroups["Where it listens"],
  ...coreGroups["The legacy server"],
  ...coreGroups.Clients,
  ...coreGroups["Large answers"],
  ...coreGroups["Cache and storage"],
  ...coreGroups["The log"],
};

/** The settings of the core. The features' own settings stand in the same object. */
export type Settings = z.infer<z.ZodObject<typeof coreShape>>;

/** The endpoints that settings may name. */
export type KnownEndpoints = Readonly<
  Record<string, { cache?: unknown; routes?: readonly string[]; legacyForm?: unknown }>
>;

/** The headings of settings: those of the core, and those that only features use. */
type SettingsGroup =
  | keyof typeof coreGroups
  | "Migration and retirement"
  | "Operators"
  | "Rate limits"
  | "Traces"
  | "Webhook";

/** The settings that a feature adds. Its functions may read the core's settings and its own. */
export type SettingsFragment = {
  shape: z.ZodRawShape;
  group?: SettingsGroup;
  /** The settings that come first, because most operators set them. */
  usual?: readonly string[];
  /** Settings whose value is never shown. */
  secrets?: readonly string[];
  reloadable?: readonly string[];
  /** Defaults that follow from the core's settings. */
  defaultsOf?(this: void, settings: Settings): Record<string, unknown>;
  /** The errors of settings that are valid one by one: the name, what was given, what is allowed. */
  errorsOf?(this: void, settings: Settings, endpoints: KnownEndpoints): string[];
  /** Warnings of settings of which one has no effect. */
  warningsOf?(this: void, settings: Settings): string[];
  /** True if the feature is loaded; default: always. */
  isOn?(this: void, settings: Settings): boolean;
  /** The console's text for the feature if it is not loaded. */
  whenOff?: WhenOff;
};

/** The core's settings, and those that fragments add. `F`: the union of their types. */
export type SettingsOf<F extends SettingsFragment> = Settings &
  (Intersection<F["shape"]> extends infer Shape extends z.ZodRawShape ? z.infer<z.ZodObject<Shape>> : never) &
  Intersection<F extends { defaultsOf(settings: Settings): infer Defaults } ? Defaults : object>;

type Intersection<Union> = (Union extends unknown ? (given: Union) => void : never) extends (given: infer All) => void
  ? All
  : never;

/**
 * The setting that loads a feature, and the effect of its absence. `section`: the part of the operators' page that says
 * so.
 */
export type WhenOff = { setting: string; effect: string; section?: { id: string; title: string; about: string } };

const usualOfCore = ["PORT", "LEGACY_URL", "PREFIXES", "TRUSTED_PROXIES", "CACHE_LEGACY"];
const secretsOfCore = ["LEGACY_API_KEY"];

/** All settings: the core's, and those that the fragments of features add. */
export const settingsSchemaOf = (fragments: readonly SettingsFragment[], isStrict = true): z.ZodObject<z.ZodRawShape> =>
  (isStrict ? z.strictObject : z.object)(
    Object.assign({}, coreShape, ...fragments.map(({ shape }) => shape)) as z.ZodRawShape,
  );

/** All settings by heading. The first heading has those that most operators set. */
export const settingsByGroup = (fragments: readonly SettingsFragment[]): Record<string, z.ZodRawShape> => {
  const usual = new Set([...usualOfCore, ...fragments.flatMap((fragment) => fragment.usual ?? [])]);
  const groups: Record<string, Record<string, z.core.$ZodType>> = { "The usual ones": {} };
  const ofFragments = fragments.map(({ group = "More", shape }) => [group, shape] as const);
  for (const [group, shape] of [...Object.entries(coreGroups), ...ofFragments])
    for (const [name, field] of Object.entries(shape))
      (groups[usual.has(name) ? "The usual ones" : group] ??= {})[name] = field;
  return groups;
};

/** Settings whose value is never shown. */
export const secretSettings = (fragments: readonly SettingsFragment[]): ReadonlySet<string> =>
  new Set([...secretsOfCore, ...fragments.flatMap(({ secrets = [] }) => secrets)]);

/** True if the value of a secret setting holds a secret: a Redis URL without a password does not. */
export const holdsSecret = (value: unknown): boolean => {
  const url = URL.parse(String(value));
  return !/^rediss?:$/.test(url?.protocol ?? "") || url?.password !== "";
};

/** The errors for endpoints that a setting names, but that do not exist. */
export const unknownEndpoints = (setting: string, given: object, known: readonly string[]): string[] =>
  Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = suggestName(name, known);
      const advice = meant === undefined ? `allowed are ${known.join(", ")}` : `is ${meant} meant?`;
      return `${setting}: unknown endpoint ${JSON.stringify(name)} given; ${advice}`;
    });
