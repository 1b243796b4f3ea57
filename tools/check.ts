import type { CheckReport, Examples } from "../libraries/check/checkReport.ts";
import { exampleTarget } from "../libraries/compare/canonicalRequest.ts";
import { counted } from "../libraries/ui/wording.ts";
import {
  type Endpoint,
  type Json,
  type LegacyReading,
  type LegacyRequest,
  readLegacy,
  type Unsent,
  xmlReader,
} from "../src/catalogue/index.ts";
import {
  contentOf,
  describeOldReads,
  type Gateway,
  type LegacyFailed,
  type UpstreamReply,
} from "../src/gateway/index.ts";
import { once, openHolding, SAMPLE, type WhenOff } from "../src/operation/index.ts";
import type { DataSettings } from "../libraries/stores/settings.ts";
import { checkDirectory } from "../libraries/stores/checkDirectory.ts";
import type { DiskPatience } from "../libraries/stores/diskThread.ts";
import { checkFront, type SampleRead } from "./checkFront.ts";
import { urlsToOwnListeners } from "./ownListeners.ts";
import { plainText } from "./plainText.ts";

type CheckSettings = {
  settings: DataSettings;
  strict: boolean;
  print: (line: string) => void;
  /** The checks of features. */
  parts: readonly ((report: CheckReport) => Promise<void>)[];
  off: readonly WhenOff[];
  /** Milliseconds for which the start waits for the disk of `DATA_DIR`, if they differ from the default. */
  times?: Omit<DiskPatience, "onHanging">;
};

/** A line of the check. */
type CheckRow = { result: "ok" | "FAIL" | "note"; name: string; found: string; advice?: string };

type CheckResult = ReturnType<typeof resultOf>;

/**
 * Checks legacy, an example of each endpoint that reads, the settings, and each feature by its own check. Prints a line
 * for each check, and a summary.
 */
export const check = async (
  gateway: Gateway,
  { settings, strict, print, parts, off, times }: CheckSettings,
): Promise<CheckResult> => {
  const { app, core } = gateway;
  const rows: CheckRow[] = [];
  const add = ({ found: text, ...row }: CheckRow): void => {
    const found = plainText(text);
    rows.push({ ...row, found });
    print(`${row.result.padEnd(4)}  ${row.name.padEnd(26)} ${found}`);
  };
  const [prefix = "/"] = settings.PREFIXES;
  const base = prefix === "/" ? "" : prefix;
  const legacyUrl = core.settings.LEGACY_URL + settings.LEGACY_PATH;
  const shownUrl = settings.LEGACY_URL === SAMPLE ? `${legacyUrl} (the sample: all answers are invented)` : legacyUrl;
  const legacy = describeLegacy(shownUrl, await askLegacy(gateway, core.catalogue.keyProbes.reads));
  const report: CheckReport = {
    strict,
    examples: legacy.ok ? await findExamples(gateway) : new Map(),
    // Bypasses a shared cache: the check is about legacy.
    ask: async (target) => app.request(base + target, { headers: { "Cache-Control": "no-cache" } }),
    row: (ok, name, found, advice) =>
      add({ result: ok ? "ok" : "FAIL", name, found, ...(ok || advice === undefined ? {} : { advice }) }),
    note: (name, found) => add({ result: "note", name, found }),
    async keyRow(name, key, writes, accepted) {
      const caller = { key, headers: [], deadline: performance.now() + core.totalTimeout };
      const refusal = await core.keys.verify(caller, writes);
      const { ok, found } = refusal === undefined ? await accepted(caller) : { ok: false, found: refusal.message };
      report.row(ok, name, found, `set ${name} to a key that legacy accepts for this, or leave it out`);
    },
  };
  report.row(legacy.ok, "legacy", legacy.words, legacy.advice);
  if (legacy.ok) await noteGateway(gateway, report, base);
  const absent = await checkExamples(gateway, report, base, legacyUrl);
  if (legacy.ok) await checkFront(gateway, report, await sampleReads(gateway, report));
  await checkSettings(report, settings, (directory) =>
    checkDirectory(directory, {
      onHanging: () => core.observer.event("store_hangs", { directory }),
      ...times,
    }),
  );
  for (const { name, url, listener } of await urlsToOwnListeners(core.settings)) {
    const found = `${url} leads to the gateway itself, which listens there (${listener})`;
    report.row(false, name, found, `correct ${name}: it leads to the gateway itself`);
  }
  for (const part of parts) await part(report);
  report.row(true, "CACHE_LEGACY", describeOldReads(core));
  for (const { setting, effect } of off) report.row(true, setting, `not set: ${effect}`);
  const result = resultOf(rows, plainText(legacy.words), absent);
  for (const line of summaryOf(result)) print(line);
  return result;
};

type LegacyReply = UpstreamReply & { reading: LegacyReading };

/** Requests the JSON form from legacy itself, without the gateway's processing. */
const askLegacy = async ({ core }: Gateway, request: LegacyRequest): Promise<LegacyReply | LegacyFailed> => {
  const caller = {
    headers: ["user-agent", "catalog-gateway-check"],
    deadline: performance.now() + core.totalTimeout,
  };
  const reply = await core.client(request, "json", caller);
  return "failed" in reply ? reply : { ...reply, reading: readLegacy(reply.body, xmlReader([])) };
};

/** Notes that a gateway answers at legacy's address: legacy itself has no path of the new interface. */
const noteGateway = async ({ core }: Gateway, report: CheckReport, base: string): Promise<void> => {
  const [target = "/"] = Object.values(core.catalogue.endpoints).flatMap((endpoint) =>
    Object.values(endpoint.examples).flatMap((input) => readTarget(endpoint, input) ?? []),
  );
  const request = { path: base + target, form: "json", scheme: "http", client: "", isBackground: false } as const;
  const bounds = { holding: openHolding(core.memory), maxBytes: core.settings.MAX_REPLY_BYTES };
  const reply = await core.fetchPath({ ...request, ...bounds }).catch(() => undefined);
  if (reply?.isOfGateway)
    report.note(
      "LEGACY_URL",
      `another gateway answers GET ${request.path} there: is this the address of legacy itself?`,
    );
};

/** The examples of each endpoint. The first entry that legacy lists replaces those that only a single catalogue has. */
const findExamples = async (gateway: Gateway): Promise<Map<string, Examples>> => {
  const byEndpoint = new Map<string, Examples>();
  for (const [name, endpoint] of Object.entries(gateway.core.catalogue.endpoints)) {
    const first = await firstInput(gateway, endpoint);
    const { unknown } = endpoint.examples;
    byEndpoint.set(name, first === undefined ? endpoint.examples : { first, ...(unknown && { unknown }) });
  }
  return byEndpoint;
};

const firstInput = async (
  gateway: Gateway,
  { first }: Endpoint,
  offset = 0,
): Promise<Record<string, Json> | undefined> => {
  if (first === undefined) return undefined;
  const { path } = first.legacy;
  const reply = await askLegacy(gateway, {
    ...first.legacy,
    path: offset === 0 ? path : `${path}/offset/${offset}`,
  });
  return "reading" in reply && reply.reading.is === "document" ? first.input(reply.reading.document) : undefined;
};

/** The most reads with which the servers in front of legacy are checked. */
const MAX_READS = 5;

/** Examples that legacy answers to a GET without a key. */
const sampleReads = async (gateway: Gateway, { examples }: CheckReport): Promise<SampleRead[]> => {
  const reads: SampleRead[] = [];
  for (const [name, inputs] of examples) {
    const endpoint = gateway.core.catalogue.endpoints[name] as Endpoint;
    const [input] = Object.values(inputs);
    const request = input && !endpoint.writes ? endpoint.legacy(input) : undefined;
    if (request === undefined || !("path" in request) || request.method !== "GET") continue;
    const reply = await askLegacy(gateway, request);
    if ("reading" in reply && reply.reading.is === "document")
      reads.push({ path: request.path, text: JSON.stringify(reply.reading.document) });
    if (reads.length === MAX_READS) break;
  }
  return reads;
};

/**
 * Requests every example. Returns the endpoints that legacy does not have, if others could be read: no other part of
 * the check requests them.
 */
const checkExamples = async (
  gateway: Gateway,
  report: CheckReport,
  base: string,
  legacyUrl: string,
): Promise<string[]> => {
  const isAbsent = openAbsence(gateway);
  /** The endpoints with a readable example; and the requests that show that legacy does not have an endpoint. */
  const read = new Set<string>();
  const absent = new Map<string, LegacyRequest>();
  for (const [name, examples] of report.examples)
    for (const [example, input] of Object.entries(examples)) {
      const endpoint = gateway.core.catalogue.endpoints[name] as Endpoint;
      const answer = await askExample(report, endpoint, input, base);
      if (answer === undefined) continue;
      const request = endpoint.legacy(input);
      if (answer.status >= 500 && "path" in request && (await isAbsent(request))) {
        absent.set(name, request);
        continue;
      }
      const other =
        answer.status === 502 ? await otherRecord(gateway, report, { endpoint, example, input }, base) : undefined;
      if (other) {
        report.note(`${name} ${example}`, `${answer.found}; another record is taken`);
        report.examples.set(name, { ...report.examples.get(name), [example]: other.input });
      }
      const { status, found } = other ?? answer;
      if (status === 200) read.add(name);
      // Only a 5xx is a failure: "not found" is an answer, too.
      report.row(status < 500, `${name} ${example}`, found, adviceFor(request, legacyUrl));
    }
  if (absent.size > 0 && read.size === 0) {
    report.row(false, "endpoints", "legacy has none of them", "are LEGACY_URL and LEGACY_PATH right?");
    return [];
  }
  for (const [name, request] of absent) {
    const found = `this legacy does not have it: GET ${legacyUrl}/json${request.path}`;
    if (read.has(name)) report.row(false, name, `${found}, and answers for others`, adviceFor(request, legacyUrl));
    else {
      report.note(name, found);
      report.examples.delete(name);
    }
  }
  return [...absent.keys()].filter((name) => !read.has(name));
};

/** True for legacy's error for a function that it does not have. */
const isUnknownFunction = ({ reading }: LegacyReply): boolean => reading.is === "error" && reading.code === 100;

/** A route that no legacy has. */
const MADE_UP: LegacyRequest = { method: "GET", path: "/made-up-route" };

/** Opens a test that is true if legacy lacks a route: by its error, or by the 404 that a made-up route also gets. */
const openAbsence = (gateway: Gateway): ((request: LegacyRequest) => Promise<boolean>) => {
  /** A 404 without the path that it may name; `undefined` for any other answer. */
  const notFoundOf = (reply: LegacyReply | LegacyFailed, { path }: LegacyRequest): string | undefined =>
    "reading" in reply && reply.status === 404
      ? `${reply.contentType} ${reply.body.toString("latin1", 0, MAX_LOOKED_AT).replaceAll(path, "")}`
      : undefined;
  const madeUp = once(async () => notFoundOf(await askLegacy(gateway, MADE_UP), MADE_UP));
  return async (request) => {
    const reply = await askLegacy(gateway, request);
    if ("reading" in reply && isUnknownFunction(reply)) return true;
    const notFound = notFoundOf(reply, request);
    return notFound !== undefined && notFound === (await madeUp());
  };
};

/** The target by which a GET requests an example; `undefined` if only a POST can. */
const readTarget = (endpoint: Endpoint, input: Record<string, Json>): string | undefined =>
  endpoint.writes ? undefined : exampleTarget(endpoint, input);

/** Requests an example; `undefined` if only a POST can request it. */
const askExample = async (report: CheckReport, endpoint: Endpoint, input: Record<string, Json>, base: string) => {
  const target = readTarget(endpoint, input);
  if (target === undefined) return undefined;
  const started = performance.now();
  const response = await report.ask(target);
  const body = await response.text();
  const took = `${Math.round(performance.now() - started)} ms`;
  const { status } = response;
  const about = `${status}, ${body.length} bytes, ${took}, GET ${base}${target}`;
  return { status, input, found: status < 500 ? about : `${about} ${body}` };
};

/** The most records that are tried in place of a broken record. */
const MAX_OTHERS = 3;

/** Requests the next records, since a single record may be broken; `undefined` if legacy shows none of them. */
const otherRecord = async (
  gateway: Gateway,
  report: CheckReport,
  { endpoint, example, input }: { endpoint: Endpoint; example: string; input: Record<string, Json> },
  base: string,
) => {
  const ids = Object.entries(input).filter(([name, value]) => typeof value === "number" && name !== "limit");
  for (let n = 1; n <= MAX_OTHERS; n++) {
    const next =
      example === "first"
        ? await firstInput(gateway, endpoint, n)
        : ids.length > 0 && { ...input, ...Object.fromEntries(ids.map(([name, id]) => [name, (id as number) + n])) };
    const answer = next ? await askExample(report, endpoint, next, base) : undefined;
    if (answer?.status === 200) return answer;
  }
  return undefined;
};

const adviceFor = (request: LegacyRequest | Unsent, legacyUrl: string): string =>
  "path" in request ? `look at what legacy answers: curl '${legacyUrl}/json${request.path}'` : request.unsent;

const checkSettings = async (
  report: CheckReport,
  settings: CheckSettings["settings"],
  troubleOf: (directory: string) => Promise<string | undefined>,
): Promise<void> => {
  const { LEGACY_API_KEY: key, DATA_DIR: directory, REDIS_URL, TRUSTED_PROXIES } = settings;
  if (key === undefined)
    report.row(true, "LEGACY_API_KEY", "not set: flow names with = + @ / and the like need the caller's own key");
  else await report.keyRow("LEGACY_API_KEY", key, true, () => ({ ok: true, found: "accepted, and may write" }));
  if (directory !== undefined && REDIS_URL !== undefined) report.note("DATA_DIR", "not used, since REDIS_URL is set");
  else if (directory !== undefined) {
    const trouble = await troubleOf(directory);
    report.row(
      trouble === undefined,
      "DATA_DIR",
      trouble ?? `${directory} can be written`,
      "correct DATA_DIR, its rights or its disk",
    );
  }
  if (TRUSTED_PROXIES.length === 0)
    report.note(
      "TRUSTED_PROXIES",
      "not set: behind a proxy all callers look like one (canary, rate limits); then set it to the proxy's address",
    );
};

/** `legacy`: its answer in plain words. `absent`: the endpoints that legacy does not have. */
const resultOf = (rows: CheckRow[], legacy: string, absent: readonly string[]) => {
  const count = (wanted: CheckRow["result"]) => rows.filter(({ result }) => result === wanted).length;
  return { ready: count("FAIL") === 0, legacy, passed: count("ok"), failed: count("FAIL"), absent, rows };
};

/** The summary: legacy's answer, the number of passed checks, the failures, and the next steps. */
const summaryOf = ({ ready, legacy, passed, failed, absent, rows }: CheckResult): string[] => {
  const lacks =
    absent.length === 0
      ? ""
      : `; this legacy does not have ${counted(absent.length, "endpoint")}: ${absent.join(", ")}`;
  if (ready) return ["", `READY: ${legacy}; all ${passed} checks passed${lacks}`];
  const wrong = rows.filter(({ result }) => result === "FAIL");
  return [
    "",
    `NOT READY: ${legacy}${lacks}; ${passed} checks passed, ${failed} failed:`,
    ...wrong.map(({ name, found, advice }) => `  ${name}: ${advice ?? found}`),
  ];
};

/**
 * The result of a harmless request to legacy: true if it is legacy's interface; the answer in plain words; and the next
 * step if not.
 */
type LegacyState = { ok: boolean; words: string; advice?: string };

/** `url`: the address of legacy's interface, with its path. */
const describeLegacy = (url: string, reply: LegacyReply | LegacyFailed): LegacyState => {
  if ("failed" in reply) {
    const advice = reply.why.includes("not trusted")
      ? "its certificate is not trusted: name its authority's by LEGACY_CA"
      : "is LEGACY_URL right, and is legacy up?";
    return { ok: false, words: `legacy at ${url} gives no answer: ${reply.why}`, advice };
  }
  const { status, contentType, reading, body } = reply;
  const type = contentType.split(";", 1)[0] || "without a type";
  const words = `legacy at ${url} answers ${status} ${type}`;
  if (reading.is === "document" && status === 200) return { ok: true, words };
  const text = body.toString("latin1", 0, MAX_LOOKED_AT);
  const said =
    reading.is === "error" ? `: ${reading.message}` : reading.is === "document" ? "" : `, ${contentOf(status, body)}`;
  const isOwnError = reading.is === "error" && !isUnknownFunction(reply) && !isOfLoop(text);
  return { ok: false, words: words + said, advice: isOwnError ? "look at legacy's log" : adviceOfLegacy(status, text) };
};

/** The most bytes of an answer that are read for advice. */
const MAX_LOOKED_AT = 1000;

/** True if a gateway answers that the request has come back to it. */
const isOfLoop = (text: string): boolean => /been through this gateway|the gateway itself/.test(text);

const adviceOfLegacy = (status: number, text: string): string => {
  if (isOfLoop(text)) return "LEGACY_URL leads to the gateway itself: correct it";
  if (status === 401) return "a server before legacy asks for a password: let the gateway pass without one";
  if (status === 403) return "a server before legacy refuses the gateway: is LEGACY_HOST right?";
  if (status >= 300 && status < 400) return "it redirects: are LEGACY_URL (http or https) and LEGACY_HOST right?";
  if (status >= 500) return "legacy fails: look at its log";
  return "is LEGACY_PATH right?";
};
