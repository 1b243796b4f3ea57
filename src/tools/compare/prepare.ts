import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { type LedgerEntry, readLedger } from "../../compare/ledger.ts";
import { emptyTally } from "../../compare/tally.ts";
import { z } from "zod";
import { buildId } from "../../cache/buildId.ts";
import { comparedShape, wrongRoutes } from "../../modern/settings.ts";
import type { Catalogue } from "../../serve/catalogue.ts";
import { loadSettings } from "../../settings/load.ts";
import { fragmentOf, type Settings } from "../../settings/settings.ts";
import { readKeyVariable } from "../keyVariable.ts";
import type { CompareOptions } from "./options.ts";

/** Everything that a run needs to know before it connects. */
export type PreparedRun = {
  settings: CompareSettings;
  entries: LedgerEntry[];
  key: string | undefined;
  rate: number;
  concurrency: number;
  /** Takes the key out of a text. */
  scrub: (text: string) => string;
  /** Equal for runs of the same requests to the same servers. */
  fingerprint: string;
};

/** Characters of the key; a shorter one could not be taken out of the reports. */
const MIN_KEY = 8;

const shape = { ...comparedShape, LEGACY_ADMIN_KEY: z.string().optional() };
const compareSettings = fragmentOf({ shape, secrets: ["LEGACY_ADMIN_KEY"], errorsOf: wrongRoutes });

/** The gateway's settings that the command uses. */
type CompareSettings = Settings & z.infer<z.ZodObject<typeof shape>>;

type Environment = Record<string, string | undefined>;

/** Reads the gateway's settings from the environment, the key and the ledger. Errors name the setting. */
export const prepareRun = (
  options: CompareOptions,
  environment: Environment,
  catalogue: Catalogue,
): PreparedRun | { errors: string[] } => {
  const loaded = loadSettings(
    { ...environment, ...(options.legacy === undefined ? {} : legacyIn(options.legacy)) },
    catalogue.endpoints,
    [compareSettings],
    false,
  );
  if ("errors" in loaded) return loaded;
  const { keyName } = options;
  const key = keyName === undefined ? { key: undefined } : readKeyVariable(keyName, environment, MIN_KEY);
  if ("errors" in key) return key;
  if (options.corpus !== undefined && !exists(options.corpus))
    return { errors: [`--corpus: ${options.corpus} cannot be read; allowed is the path of a file`] };
  const settings = loaded.settings as CompareSettings;
  const ledger = ledgerFor(options, settings, catalogue);
  if ("errors" in ledger) return ledger;
  const isNear = settings.LEGACY_URL === undefined || isLoopback(settings.LEGACY_URL);
  return {
    settings,
    entries: ledger.entries,
    key: key.key,
    scrub: scrubOf([key.key, settings.LEGACY_API_KEY, settings.LEGACY_ADMIN_KEY]),
    rate: options.rate ?? (isNear ? 0 : 10),
    concurrency: options.concurrency ?? (isNear ? 8 : 2),
    fingerprint: fingerprintOf(options, settings, ledger.entries),
  };
};

/** The ledger of expected differences. Without a candidate the gateway is compared with legacy, and the default is no ledger. */
const ledgerFor = (
  { expected, candidate }: CompareOptions,
  settings: CompareSettings,
  { expectedDifferences }: Catalogue,
): ReturnType<typeof readLedger> => {
  if (expected === "none" || (expected === undefined && candidate === undefined)) return { entries: [] };
  if (expected !== undefined) return readLedger(expected, "--expected");
  return readLedger(settings.EXPECTED_DIFFERENCES ?? expectedDifferences, "EXPECTED_DIFFERENCES");
};

/** Takes these keys out of a text, in any case. */
const scrubOf = (keys: readonly (string | undefined)[]): ((text: string) => string) => {
  const known = keys.flatMap((key) => key ?? []);
  if (known.length === 0) return (text) => text;
  // Keys are letters and digits, which every format writes alike.
  const pattern = new RegExp(known.join("|"), "gi");
  return (text) => text.replaceAll(pattern, "(key)");
};

/** `https://host/api/v1` -> the gateway's settings for it. */
const legacyIn = (url: string): Environment => {
  const { origin, pathname } = new URL(url);
  return { LEGACY_URL: origin, ...(pathname === "/" ? {} : { LEGACY_PATH: pathname }) };
};

const isLoopback = (url: string): boolean => /^(127\.|\[::1\]$|localhost$)/.test(new URL(url).hostname);

const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined;

const fingerprintOf = (options: CompareOptions, settings: CompareSettings, entries: LedgerEntry[]): string => {
  const { legacy, candidate, modern, endpoints, idsText, corpus, limit, keyName } = options;
  const { size, mtimeMs } = (corpus === undefined ? undefined : statSync(corpus, { throwIfNoEntry: false })) ?? {};
  const about = [
    legacy ?? settings.LEGACY_URL,
    candidate,
    modern ? settings.MODERN_ROUTES : undefined,
    endpoints,
    idsText,
    corpus,
    size,
    mtimeMs,
    limit,
    keyName,
    entries,
    buildId(),
    // Notes in the format of another version are not read.
    Object.keys(emptyTally()),
  ];
  return hash("sha256", JSON.stringify(about), "base64url");
};
