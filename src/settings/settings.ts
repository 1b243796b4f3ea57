import { z } from "zod";
import { type Duration, isDuration } from "../cache/entry.ts";
import {
  bytesField,
  countField,
  hostField,
  millisecondsField,
  networksField,
  originField,
  prefixField,
} from "./fields.ts";

const corsOrigin = z
  .string()
  .regex(
    /^(\*|null|[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+)$/,
    "* or origins such as https://page.example, without a slash at the end",
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

/** Whether the Redis client accepts the URL, so that an error names the setting. */
const isRedisUrl = (text: string): boolean => {
  try {
    const { pathname, username, password } = new URL(text);
    for (const part of [username, password]) decodeURIComponent(part);
    return /^rediss?:\/\/\S+$/.test(text) && /^\/?\d*$/.test(pathname);
  } catch {
    return false;
  }
};

/** The settings of the core: their names in the environment and in the file, their bounds, what they are for. */
const coreShape = {
  PORT: z.int().min(0).max(65_535).default(8000).describe("the port to listen on; 0 takes any free one"),
  HOST: hostField.default("127.0.0.1").describe("the address to listen on"),
  LEGACY_URL: originField
    .optional()
    .describe("the origin of the legacy server; without it the sample legacy is started"),
  LEGACY_PATH: prefixField.default("/api/v1").describe("the path of its interface, before json or xml"),
  LEGACY_HOST: hostField
    .optional()
    .describe("the Host it is addressed by (default: the client's, and LEGACY_URL's for the gateway's own requests)"),
  LEGACY_CA: z
    .string()
    .min(1)
    .optional()
    .describe(
      "a file with the certificates (PEM) of the authorities that legacy's must come from (default: those that Node trusts)",
    ),
  LEGACY_API_KEY: z
    .string()
    .regex(/^[A-Za-z0-9]{1,64}$/, "1-64 letters and digits")
    .optional()
    .describe("the gateway's own key, for what legacy answers only with one"),
  LEGACY_STUDIES: z
    .array(z.int().min(1))
    .optional()
    .describe("the ids of the studies that are no longer supported (default: the specification's)"),
  PREFIXES: z
    .array(prefixField)
    .min(1)
    .refine((list) => new Set(list).size === list.length, "each prefix once")
    .default(["/v1"])
    .describe("the prefixes the new interface is served under"),
  CORS_ORIGINS: z.array(corsOrigin).default(["*"]).describe("the origins whose pages may read answers"),
  TRUSTED_PROXIES: networksField.describe("the addresses and networks whose X-Forwarded-* are believed"),
  CONNECT_TIMEOUT_MS: millisecondsField(5_000).describe("to connect to legacy"),
  HEADERS_TIMEOUT_MS: millisecondsField(30_000).describe("until legacy begins to answer"),
  BODY_TIMEOUT_MS: millisecondsField(30_000).describe("of silence within a body"),
  TOTAL_TIMEOUT_MS: millisecondsField(60_000).describe("for one answer of the new interface, whatever it takes"),
  DRAIN_DELAY_MS: z
    .int()
    .min(0)
    .max(3_600_000)
    .default(5_000)
    .describe("from SIGTERM until the port closes, for load balancers to see /readyz; SIGINT closes it at once"),
  DRAIN_TIMEOUT_MS: millisecondsField(30_000).describe("for requests in flight when the port has closed"),
  MAX_BODY_BYTES: bytesField(1024 ** 2).describe("of a JSON body sent to the new interface"),
  MAX_REPLY_BYTES: bytesField(32 * 1024 ** 2).describe("of a legacy answer to be transformed"),
  MAX_REPLIES_BYTES: z
    .int()
    .min(1024)
    .max(64 * 1024 ** 3)
    .default(256 * 1024 ** 2)
    .describe("of all answers that are being collected to be transformed; more large ones are answered 503"),
  MAX_CONNECTIONS: countField(64).describe(
    "connections to legacy, for transforms, for pass-through and for slow downloads each",
  ),
  MAX_WAITING: countField(1_000).describe(
    "requests that may wait for such a connection; half as many large uploads beside them",
  ),
  MAX_CLIENT_CONNECTIONS: countField(10_000).describe("connections of clients at a time; more are answered 503"),
  SEND_TIMEOUT_MS: millisecondsField(20_000).describe(
    "in which a client has to take 1/32 of what waits for it, where much waits in all",
  ),
  MAX_SEND_BYTES: z
    .int()
    .min(1024 ** 2)
    .max(64 * 1024 ** 3)
    .default(256 * 1024 ** 2)
    .describe(
      "of answers that clients have not taken yet, over all of them; beyond it those that take nothing are cut off, then more are answered 503",
    ),
  WAIT_TIMEOUT_MS: millisecondsField(10_000).describe("that a request waits for such a connection at most; then 503"),
  MIN_UPLOAD_RATE: countField(1_024).describe("bytes a second that a client's upload has to come with; below it 408"),
  READER_THREADS: z
    .int()
    .min(1)
    .max(32)
    .default(2)
    .describe("threads that read large answers, one for each core at most; they start when they are needed"),
  READER_HEAP_MB: z.int().min(64).max(16_384).default(512).describe("MiB of heap for each of them"),
  READER_TIMEOUT_MS: millisecondsField(30_000).describe("that reading one answer may take"),
  READER_QUEUE_BYTES: bytesField(128 * 1024 ** 2).describe(
    "of large answers and bodies that wait to be read; callers take turns",
  ),
  CACHE_BYTES: z
    .int()
    .min(0)
    .max(64 * 1024 ** 3)
    .default(64 * 1024 ** 2)
    .describe("of memory for what is kept, all encodings and keys counted; 0 keeps nothing"),
  CACHE_LIFETIMES: lifetimes
    .default({})
    .describe(
      'how long answers hold, by endpoint: {"getDataset": {"fresh": "5m"}} (also staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl)',
    ),
  REDIS_URL: z
    .string()
    .refine(isRedisUrl, "a URL such as redis://127.0.0.1:6379/0, a % in its password written %25")
    .optional()
    .describe("a Redis or Valkey that several gateways share what they keep by"),
  DATA_DIR: z.string().min(1).optional().describe("where what was set at run time survives a restart"),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("what is logged to the standard error"),
};

/** The settings of the core. The features' own settings stand in the same object. */
export type Settings = z.infer<z.ZodObject<typeof coreShape>>;

/** The endpoints that settings may name. */
export type KnownEndpoints = Readonly<Record<string, { cache?: unknown; routes?: readonly string[] }>>;

/** What one feature adds to the settings. `All`: all settings with its own. */
export type SettingsFragment<Shape extends z.ZodRawShape = z.ZodRawShape> = {
  shape: Shape;
  /** Settings whose value is never shown. */
  secrets?: readonly string[];
  /** Settings that may change while the gateway runs. */
  reloadable?: readonly string[];
  /** What is wrong with settings that are valid one by one: the name, what was given, what is allowed. */
  errorsOf?: (settings: Settings & z.infer<z.ZodObject<Shape>>, endpoints: KnownEndpoints) => string[];
  /** Whether the feature is loaded; default: always. */
  isOn?: (settings: Settings & z.infer<z.ZodObject<Shape>>) => boolean;
  /** What the console shows of the feature if it is not loaded. */
  whenOff?: WhenOff;
};

/** The setting that loads a feature, and the effect of its absence; `section`: where the operators' page says so. */
export type WhenOff = { setting: string; effect: string; section?: { id: string; title: string; about: string } };

/** A fragment without the types of its settings: all of them are validated as one object. */
export const fragmentOf = <Shape extends z.ZodRawShape>(fragment: SettingsFragment<Shape>): SettingsFragment =>
  fragment as unknown as SettingsFragment;

const secretsOfCore = ["LEGACY_API_KEY", "REDIS_URL"];

/** All settings: the core's, and those that the fragments of features add. */
export const settingsSchemaOf = (fragments: readonly SettingsFragment[], isStrict = true): z.ZodObject<z.ZodRawShape> =>
  (isStrict ? z.strictObject : z.object)(
    Object.assign({}, coreShape, ...fragments.map(({ shape }) => shape)) as z.ZodRawShape,
  );

/** Settings whose value is never shown. */
export const secretSettings = (fragments: readonly SettingsFragment[]): ReadonlySet<string> =>
  new Set([...secretsOfCore, ...fragments.flatMap(({ secrets = [] }) => secrets)]);

/** Endpoints that a setting names, and that do not exist. */
export const unknownEndpoints = (setting: string, given: object, known: readonly string[]): string[] =>
  Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => `${setting}: unknown endpoint ${JSON.stringify(name)} given; allowed are ${known.join(", ")}`);
