import { z } from "zod";
import { type Duration, isDuration } from "../cache/duration.ts";
import { stageSchema } from "../features/migration/stage.ts";
import { brownouts, deprecations } from "../features/retirement/schemas.ts";
import { trustedProxies } from "../upstream/clientAddress.ts";

const milliseconds = (usual: number) => z.int().min(1).max(3_600_000).default(usual);
const count = (usual: number) => z.int().min(1).max(100_000).default(usual);
const bytes = (usual: number) =>
  z
    .int()
    .min(1024)
    .max(1024 ** 3)
    .default(usual);

const origin = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^/?#@]+\/?$/.test(text) && URL.canParse(text),
    "an origin such as http://127.0.0.1:8080, without a path",
  )
  .transform((text) => text.replace(/\/$/, ""));
const baseUrl = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^/?#@\s]+(\/[A-Za-z0-9_.~-]+)*\/?$/.test(text) && URL.canParse(text),
    "a URL such as http://127.0.0.1:9000 or http://127.0.0.1:9000/v1",
  )
  .transform((text) => text.replace(/\/$/, ""));
const host = z.string().regex(/^[A-Za-z0-9._:[\]-]+$/, "a host name or address");
const corsOrigin = z
  .string()
  .regex(
    /^(\*|null|[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+)$/,
    "* or origins such as https://page.example, without a slash at the end",
  );
const route = z
  .string()
  .regex(
    /^(GET|POST) (\/([A-Za-z0-9_.~-]+|\{\w+\??\}))+\/?$/,
    "routes such as GET /flows/exists/{name}/{external_version}",
  );
const prefix = z.string().regex(/^\/$|^(\/[A-Za-z0-9_.~-]+)+$/, "a path such as /v1, or /");
const proxies = z
  .array(z.string())
  .default([])
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

const duration = z.custom<Duration>(
  (text) => typeof text === "string" && isDuration(text),
  "durations such as 90s, 10m, 24h or 7d",
);
const windows = z.record(
  z.string(),
  z
    .strictObject({ fresh: duration, stale: duration, staleIfError: duration, absent: duration, unready: duration })
    .partial(),
);

/** What the Redis client would throw at is found here, where it is told by name. */
const isRedisUrl = (text: string): boolean => {
  try {
    const { pathname, username, password } = new URL(text);
    for (const part of [username, password]) decodeURIComponent(part);
    return /^rediss?:\/\/\S+$/.test(text) && /^\/?\d*$/.test(pathname);
  } catch {
    return false;
  }
};

/** Every setting: its name in the environment and in the file, its bounds, what it is for. */
export const settingsSchema = z.strictObject({
  PORT: z.int().min(0).max(65_535).default(8000).describe("the port to listen on; 0 takes any free one"),
  HOST: host.default("127.0.0.1").describe("the address to listen on"),
  LEGACY_URL: origin.optional().describe("the origin of the legacy server; without it the sample legacy is started"),
  LEGACY_PATH: prefix.default("/api/v1").describe("the path of its interface, before json or xml"),
  LEGACY_HOST: host
    .optional()
    .describe("the Host it is addressed by (default: the client's, and LEGACY_URL's for the gateway's own requests)"),
  LEGACY_API_KEY: z
    .string()
    .regex(/^[A-Za-z0-9]{1,64}$/, "1-64 letters and digits")
    .optional()
    .describe("the gateway's own key, for what legacy answers only with one"),
  LEGACY_ADMIN_KEY: z
    .string()
    .regex(/^[A-Za-z0-9]{1,64}$/, "1-64 letters and digits")
    .optional()
    .describe("an administrator's key: private datasets are looked for with it, and listed to administrators"),
  PRIVATE_WALK_RATE: count(10).describe("requests a second to legacy at most, while private datasets are looked for"),
  LEGACY_STUDIES: z
    .array(z.int().min(1))
    .optional()
    .describe("the ids of the studies that are no longer supported (default: the specification's)"),
  PREFIXES: z.array(prefix).min(1).default(["/v1"]).describe("the prefixes the new interface is served under"),
  CORS_ORIGINS: z.array(corsOrigin).default(["*"]).describe("the origins whose pages may read answers"),
  TRUSTED_PROXIES: proxies.describe("the addresses and networks whose X-Forwarded-* are believed"),
  CONNECT_TIMEOUT_MS: milliseconds(5_000).describe("to connect to legacy"),
  HEADERS_TIMEOUT_MS: milliseconds(30_000).describe("until legacy begins to answer"),
  BODY_TIMEOUT_MS: milliseconds(30_000).describe("of silence within a body"),
  TOTAL_TIMEOUT_MS: milliseconds(60_000).describe("for one answer of the new interface, whatever it takes"),
  DRAIN_TIMEOUT_MS: milliseconds(30_000).describe("for requests in flight at a stop"),
  MAX_BODY_BYTES: bytes(1024 ** 2).describe("of a JSON body sent to the new interface"),
  MAX_REPLY_BYTES: bytes(32 * 1024 ** 2).describe("of a legacy answer to be transformed"),
  MAX_REPLIES_BYTES: z
    .int()
    .min(1024)
    .max(64 * 1024 ** 3)
    .default(256 * 1024 ** 2)
    .describe("of all answers that are being collected to be transformed; more large ones are answered 503"),
  MAX_CONNECTIONS: count(64).describe(
    "connections to legacy, for transforms, for pass-through and for slow downloads each",
  ),
  MAX_WAITING: count(1_000).describe(
    "requests that may wait for such a connection; half as many large uploads beside them",
  ),
  MAX_CLIENT_CONNECTIONS: count(10_000).describe("connections of clients at a time; more are answered 503"),
  SEND_TIMEOUT_MS: milliseconds(20_000).describe(
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
  WAIT_TIMEOUT_MS: milliseconds(10_000).describe("that a request waits for such a connection at most; then 503"),
  MIN_UPLOAD_RATE: count(1_024).describe("bytes a second that a client's upload has to come with; below it 408"),
  READER_THREADS: z
    .int()
    .min(1)
    .max(32)
    .default(2)
    .describe("threads that read large answers, one for each core at most; they start when they are needed"),
  READER_HEAP_MB: z.int().min(64).max(16_384).default(512).describe("MiB of heap for each of them"),
  READER_TIMEOUT_MS: milliseconds(30_000).describe("that reading one answer may take"),
  READER_QUEUE_BYTES: bytes(128 * 1024 ** 2).describe(
    "of large answers and bodies that wait to be read; callers take turns",
  ),
  CACHE_BYTES: z
    .int()
    .min(0)
    .max(64 * 1024 ** 3)
    .default(64 * 1024 ** 2)
    .describe("of memory for what is kept, all encodings and keys counted; 0 keeps nothing"),
  CACHE_ENTRY_BYTES: bytes(8 * 1024 ** 2).describe("of one answer that is kept, all encodings counted"),
  CACHE_WINDOWS: windows
    .default({})
    .describe(
      'how long answers hold, by endpoint: {"getDataset": {"fresh": "5m"}} (also stale, staleIfError, absent, unready)',
    ),
  REDIS_URL: z
    .string()
    .refine(isRedisUrl, "a URL such as redis://127.0.0.1:6379/0, a % in its password written %25")
    .optional()
    .describe("a Redis or Valkey that several gateways share what they keep by"),
  REDIS_TIMEOUT_MS: milliseconds(50).describe("that a request waits for it at most"),
  DEPRECATED: deprecations.describe(
    'legacy paths on their way out: [{"path": "/api/v1/json/data", "since": "2026-01-01"}] (also sunset, link, successor)',
  ),
  BROWNOUTS: brownouts.describe(
    'when paths answer nothing: [{"path": "/api/v1", "from": "2026-12-01T09:00:00Z", "until": "2026-12-01T10:00:00Z", "status": 503}] (also link)',
  ),
  ADMIN_PORT: z.int().min(0).max(65_535).default(8001).describe("the port for operators; 0 takes any free one"),
  ADMIN_HOST: host.default("127.0.0.1").describe("the address for operators; others than loopback need an ADMIN_TOKEN"),
  ADMIN_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,256}$/, "16-256 characters without blanks")
    .optional()
    .describe("what operators have to send as Authorization: Bearer TOKEN"),
  MODERN_URL: baseUrl
    .optional()
    .describe("the new implementation: the URL below which its paths lie; without it every endpoint stays with legacy"),
  MODERN_TIMEOUT_MS: milliseconds(5_000).describe("for one answer of modern's, before legacy is asked instead"),
  MODERN_ROUTES: z
    .record(z.string(), route)
    .default({})
    .describe(
      'where the new implementation has an endpoint, by endpoint: {"findFlow": "GET /flows/exists/{name}/{external_version}"} (default: as each definition says)',
    ),
  STAGES: z
    .record(z.string(), stageSchema)
    .default({})
    .describe(
      'who answers, by endpoint: {"getDataset": {"stage": "shadow", "share": 10, "gate": {"parity": 0.999}}} (legacy, shadow, canary, modern)',
    ),
  EXPECTED_DIFFERENCES: z
    .string()
    .min(1)
    .optional()
    .describe("the file with the ledger of expected differences (default: the one that ships)"),
  DATA_DIR: z.string().min(1).optional().describe("where what was set at run time survives a restart"),
  FORCE_BACKEND: z.boolean().default(false).describe("requests may name their side: Gateway-Backend: legacy or modern"),
  MIRROR_CONCURRENCY: count(20).describe("comparisons at a time, beside the callers' requests"),
  MIRROR_RATE: count(50).describe("comparisons a second"),
  MIRROR_BYTES: bytes(16 * 1024 ** 2).describe("of answers a second that are compared"),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("what is logged to the standard error"),
});

export type Settings = z.infer<typeof settingsSchema>;

/** Settings whose value is never shown. */
export const secrets: ReadonlySet<string> = new Set(["LEGACY_API_KEY", "LEGACY_ADMIN_KEY", "REDIS_URL", "ADMIN_TOKEN"]);
