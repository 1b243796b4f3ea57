import { unusedCertificates } from "./certificates.ts";
import { type Settings, unknownEndpoints } from "./settings.ts";

/**
 * The errors of core settings that are valid alone but wrong together. Each line names all settings that it is about.
 * `cached`: the endpoints whose answers are cached.
 */
export const wrongTogether = (settings: Settings, cached: readonly string[]): string[] => [
  ...unknownEndpoints("CACHE_LIFETIMES", settings.CACHE_LIFETIMES, cached),
  ...unknownEndpoints("CACHE_LEGACY", Object.fromEntries(settings.CACHE_LEGACY.map((name) => [name, true])), [
    ...cached,
    "all",
  ]),
  ...withoutCache(settings),
  ...tooLarge(settings),
  ...overLegacy(settings),
  ...unusedCertificates("LEGACY_CA", settings.LEGACY_CA, "LEGACY_URL", settings.LEGACY_URL),
];

/** Warnings about core settings that are allowed, but hardly meant. */
export const doubtful = (settings: Settings): string[] => [...tooSmall(settings), ...trustingAll(settings)];

const withoutCache = ({ CACHE_LEGACY, CACHE_BYTES }: Settings): string[] =>
  CACHE_LEGACY.length === 0 || CACHE_BYTES > 0
    ? []
    : [
        "CACHE_LEGACY: given with CACHE_BYTES 0, which caches nothing; allowed is any other CACHE_BYTES, or no CACHE_LEGACY",
      ];

const tooLarge = ({ MAX_REPLY_BYTES, MEMORY_BYTES }: Settings): string[] =>
  MAX_REPLY_BYTES <= MEMORY_BYTES
    ? []
    : [
        `MEMORY_BYTES: ${MEMORY_BYTES} given; allowed is at least MAX_REPLY_BYTES (${MAX_REPLY_BYTES}), so that one answer alone has room`,
      ];

/** True if `path` is `other` or lies below it. */
const isWithin = (path: string, other: string): boolean => `${path}/`.startsWith(`${other}/`);

/** Prefixes that would answer old clients in legacy's place. Below `/` only paths of the new interface are taken. */
const overLegacy = ({ PREFIXES, LEGACY_PATH }: Settings): string[] =>
  PREFIXES.filter(
    (prefix) =>
      prefix !== "/" && LEGACY_PATH !== "/" && (isWithin(prefix, LEGACY_PATH) || isWithin(LEGACY_PATH, prefix)),
  ).map(
    (prefix) =>
      `PREFIXES: ${prefix} given, which takes requests of LEGACY_PATH (${LEGACY_PATH}) from legacy; allowed is a path neither above nor below it, or /`,
  );

/** A list of some thousand rows has a few MB, and an answer may take an eighth of the cache. */
const SMALL_CACHE = 8 * 1024 ** 2;

const tooSmall = ({ CACHE_LEGACY, CACHE_BYTES }: Settings): string[] =>
  CACHE_LEGACY.length === 0 || CACHE_BYTES >= SMALL_CACHE
    ? []
    : [
        `CACHE_BYTES: ${CACHE_BYTES} given, and an answer of more than an eighth of it is not cached: long lists of CACHE_LEGACY pass, and fail while legacy is down; better is ${SMALL_CACHE} or more`,
      ];

const trustingAll = ({ TRUSTED_PROXIES }: Settings): string[] =>
  TRUSTED_PROXIES.filter((network) => network.endsWith("/0")).map(
    (network) =>
      `TRUSTED_PROXIES: ${network} given, so each caller may say which address it has; better are the addresses of your proxies alone`,
  );
