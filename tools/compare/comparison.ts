import { mkdirSync } from "node:fs";
import { z } from "zod";
import { observeFields } from "./fields.ts";
import { type LedgerEntry, ledgerOf, openLedger } from "../../libraries/compare/ledger.ts";
import type { Report } from "./report/report.ts";
import { Outcomes } from "./outcomes.ts";
import { comparedShape, wrongRoutes } from "../../libraries/modern/settings.ts";
import { type Catalogue, upstreamSettings } from "../../src/gateway/index.ts";
import { type KnownEndpoints, loadSettings, SAMPLE, type Settings } from "../../src/operation/index.ts";
import { legacySettings, readKeyVariable } from "../optionValues.ts";
import { openQuietGateway } from "../quietGateway.ts";
import type { CommandTools } from "../runCommand.ts";
import { inputReader, modernRouter, openCandidateSide, USER_AGENT } from "./candidateSide.ts";
import { compareOne } from "./compareOne.ts";
import type { CompareOptions } from "./options.ts";
import { showProgress } from "./progress.ts";
import { requestsOf } from "./requests.ts";
import { compareAll } from "./compareAll.ts";

/** Milliseconds until a mismatch is checked again. */
const SETTLE_MS = 1000;

/** The shortest allowed key: a shorter key could not be removed from the reports. */
const MIN_KEY = 8;

/** The address of a gateway that is started by hand; commands that reproduce a difference name it. */
const DEFAULT_GATEWAY = "http://127.0.0.1:8000/v1";

const shape = { ...comparedShape, LEGACY_ADMIN_KEY: z.string().optional() };
const errorsOf = (settings: CompareSettings, endpoints: KnownEndpoints): string[] => wrongRoutes(settings, endpoints);
const compareSettings = { shape, secrets: ["LEGACY_ADMIN_KEY"], errorsOf };

/** The gateway's settings that the command uses. */
type CompareSettings = Settings & z.infer<z.ZodObject<typeof shape>>;

/**
 * Compares the answers to all requests that the options name, and shows its progress on the standard error. `scrub`
 * removes the keys from a text.
 *
 * @throws If an option or a setting is wrong, a file cannot be read, the folder cannot be made, or `signal` aborts.
 */
export const performComparison = async (
  options: CompareOptions,
  { catalogue, environment, complain, signal }: CommandTools,
): Promise<{ report: Report; scrub: (text: string) => string }> => {
  if (options.modern && options.candidate === undefined) throw new Error("--modern: given without --candidate");
  const settings = settingsOf(options, environment, catalogue);
  const key = readKeyVariable(options.key, environment, MIN_KEY);
  const isNear = settings.LEGACY_URL === SAMPLE || isLoopback(settings.LEGACY_URL);
  const { rate = isNear ? 0 : 10, concurrency = isNear ? 8 : 2, candidate: candidateUrl } = options;
  const today = new Date().toISOString().slice(0, 10);
  const ledger = openLedger(entriesFor(options, settings, catalogue), today);
  for (const { id, until } of ledger.expired)
    complain(`--expected: the entry ${id} ended on ${until} and allows nothing any more`);
  mkdirSync(options.out, { recursive: true });
  const corpus = await requestsOf(options, catalogue.endpoints, settings);

  const sample = settings.LEGACY_URL === SAMPLE ? await startSample() : undefined;
  const legacyUrl = sample?.url ?? settings.LEGACY_URL;
  const legacy = await openQuietGateway({ ...settings, LEGACY_URL: legacyUrl }, catalogue, USER_AGENT);
  const ofCandidate = {
    ...upstreamSettings(settings),
    connections: concurrency,
    waiting: concurrency,
    ca: settings.MODERN_CA,
    totalTimeout: settings.TOTAL_TIMEOUT_MS,
    maxReply: settings.MAX_REPLY_BYTES,
    keyIn: options.modern ? ("query" as const) : ("header" as const),
  };
  const candidate = candidateUrl === undefined ? undefined : openCandidateSide(candidateUrl, ofCandidate);
  const addresses = {
    legacy: legacyUrl + settings.LEGACY_PATH,
    candidate: candidateUrl ?? DEFAULT_GATEWAY,
    keyName: options.key,
  };
  const sides = {
    catalogue,
    legacy,
    ledger,
    addresses,
    key,
    inputOf: inputReader(catalogue.endpoints),
    ...(candidate ? { candidate } : {}),
    ...(options.modern ? { asModern: modernRouter(catalogue.endpoints, settings.MODERN_ROUTES) } : {}),
  };

  const outcomes = new Outcomes();
  const progress = showProgress(process.stderr, corpus.total, () => outcomes.counts(), complain);
  try {
    await compareAll(
      {
        requests: corpus.requests,
        compare: (request, again) => compareOne(sides, request, again),
        count(outcome) {
          const document = outcome.differences && outcome.document;
          const endpoint = catalogue.endpoints[outcome.endpoint];
          if (document && endpoint) observeFields(endpoint.output, document, outcomes.fieldsOf(outcome.endpoint));
          outcomes.add(outcome);
        },
        rate,
        concurrency,
        settle: SETTLE_MS,
      },
      signal,
    );
  } finally {
    progress.close();
    const closed = Promise.all([legacy.close(), candidate?.close(), sample?.close()]);
    // After an interruption it does not wait for answers.
    if (!signal.aborted) await closed;
    signal.throwIfAborted();
  }
  const report = outcomes.report({
    made: new Date().toISOString(),
    sides: { legacy: addresses.legacy, ...(candidateUrl === undefined ? {} : { candidate: candidateUrl }) },
    skipped: corpus.skipped,
    endpoints: catalogue.endpoints,
  });
  return { report, scrub: scrubOf([key, settings.LEGACY_API_KEY, settings.LEGACY_ADMIN_KEY]) };
};

const settingsOf = (
  { legacy }: CompareOptions,
  environment: CommandTools["environment"],
  { endpoints }: Catalogue,
): CompareSettings => {
  const given = { ...environment, ...(legacy === undefined ? {} : legacySettings(legacy)) };
  const loaded = loadSettings(given, endpoints, [compareSettings], false);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  return loaded.settings;
};

const isLoopback = (url: string): boolean => /^(127\.|\[::1\]$|localhost$)/.test(new URL(url).hostname);

/** The ledger's entries. Without a candidate the gateway is compared with legacy, and the default is no ledger. */
const entriesFor = (
  { expected, candidate }: CompareOptions,
  { EXPECTED_DIFFERENCES }: CompareSettings,
  { expectedDifferences }: Catalogue,
): LedgerEntry[] => {
  if (expected === "none" || (expected === undefined && candidate === undefined)) return [];
  if (expected === undefined) return ledgerOf(EXPECTED_DIFFERENCES, expectedDifferences);
  const { data, error } = comparedShape.EXPECTED_DIFFERENCES.safeParse(expected);
  const wrong = error?.issues.map(({ message }) => `--expected: ${expected} given; allowed is ${message}`);
  if (wrong !== undefined) throw new Error(wrong.join("\n"));
  return ledgerOf(data, expectedDifferences);
};

/** Makes the function that removes these keys from a text, in upper and lower case. */
const scrubOf = (keys: readonly (string | undefined)[]): ((text: string) => string) => {
  const known = keys.flatMap((key) => key ?? []);
  // Keys are letters and digits, which all formats write in the same way.
  const pattern = new RegExp(known.join("|"), "gi");
  return (text) => (known.length === 0 ? text : text.replaceAll(pattern, "(key)"));
};

const startSample = async () => (await import("../sampleLegacy/startSampleLegacy.ts")).startSampleLegacy();
