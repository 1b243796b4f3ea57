import { existsSync, readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import type { Started } from "./gateway/answer/additions.ts";
import { describeOldReads } from "./gateway/oldReads/describeOldReads.ts";
import type { RunningServer } from "./gateway/server.ts";
import { withTimeout } from "./operation/limits/withTimeout.ts";
import { SAMPLE } from "./operation/settings/fields.ts";
import type { Settings } from "./operation/settings/settings.ts";
import { isTemporary } from "./operation/settings/temporary.ts";
import { openProcessMetrics } from "./operation/telemetry/processMetrics.ts";
import { plainText } from "../tools/plainText.ts";

type CheckOptions = { strict?: boolean; json?: boolean };

/** Gives a command the options of `serve`, and its action. */
export const serveCommand = (command: Command): Command =>
  command
    .option("--check", "the same as the command check, with its options")
    .addOption(command.createOption("--strict").hideHelp())
    .addOption(command.createOption("--json").hideHelp())
    .addHelpText(
      "after",
      "\nExit code: 0 stopped by a signal, 1 what may pass, or requests that were cut, 2 wrong settings.",
    )
    .action(({ check, ...options }: CheckOptions & { check?: boolean }) =>
      check ? runCheck(options) : serveGateway(),
    );

/** Gives a command the options of `check`, and its action. */
export const checkCommand = (command: Command): Command =>
  command
    .option(
      "--strict",
      "fail also where modern differs and serves no caller, and for entries of the ledger that have ended or allow nothing",
    )
    .option("--json", "print what was found as one JSON object")
    .addHelpText("after", "\nExit code: 0 good, 1 not, 2 bad configuration.")
    .action(runCheck);

/**
 * The reasons why the gateway does not start, and the exit code: 1 if another start may help, 2 (the
 * default) for wrong settings.
 */
type Refused = { errors: string[]; code?: 1 | 2 };

const refusedBy = (error: Error): Refused => ({
  errors: error.message.split("\n").map(plainText),
  code: isTemporary(error) ? 1 : 2,
});

const fail = ({ errors, code = 2 }: Refused): void => {
  for (const error of errors) console.error(error);
  process.exitCode = code;
};

const startUpstream = async (url: string) => {
  if (url !== SAMPLE) return { url, load: async () => undefined, close: async () => undefined, description: url };
  const { startSampleLegacy } = await import("../tools/sampleLegacy/startSampleLegacy.ts");
  const sample = await startSampleLegacy();
  return { ...sample, description: `${sample.url} (the sample legacy, started beside: all answers are invented)` };
};

/** The trouble that operators see for as long as the sample legacy is asked. */
const INVENTED = {
  trouble: "All answers are invented",
  effect: "the sample legacy gives them, and anyone knows its keys: set LEGACY_URL to legacy's address",
};

/** Reads the settings and opens the gateway that they describe, or gives the reasons why it cannot. */
const open = async (isCheck: boolean) => {
  const [{ fragments }, { loadFeatures }, { catalogue }, { loadSettings }] = await Promise.all([
    import("../features/settings.ts"),
    import("../features/index.ts"),
    import("../transforms/catalogue.ts"),
    import("./operation/settings/load.ts"),
  ]);
  const loaded = loadSettings(process.env, catalogue.endpoints, fragments);
  for (const warning of loaded.warnings) console.error(warning);
  if ("errors" in loaded) return loaded;
  const { settings } = loaded;
  const upstream = await startUpstream(settings.LEGACY_URL);
  const gatewaySettings = { ...settings, LEGACY_URL: upstream.url };
  const [{ openGateway }, { openOperators }, { openObserver }, features] = await Promise.all([
    import("./gateway/openGateway.ts"),
    import("./gateway/operators/operators.ts"),
    import("./operation/telemetry/observer.ts"),
    loadFeatures(gatewaySettings),
  ]);
  const observer = openObserver(settings.LOG_LEVEL);
  observer.define(features.events);
  const { openTier, off } = features;
  const parts = { openTier, isCheck };
  const gateway = await openGateway(gatewaySettings, catalogue, observer, features.open, parts).catch(
    (error: Error) => error,
  );
  if (gateway instanceof Error) {
    await upstream.close();
    return refusedBy(gateway);
  }
  if (settings.LEGACY_URL === SAMPLE) gateway.core.dependencies.add("legacy_sample", INVENTED)(false);
  const { core, stored } = gateway;
  const addConsole = features.openConsole({ ...core, stored, off }, gateway.features.consoleParts);
  const operators = openOperators(gateway, settings, addConsole);
  const closing = new AsyncDisposableStack();
  for (const part of [upstream, gateway, operators]) closing.defer(() => part.close());
  const close = () => closing.disposeAsync();
  const { endpoints } = catalogue;
  return { gateway, operators, settings, fragments, endpoints, observer, upstream, off, close };
};
type Opened = Exclude<Awaited<ReturnType<typeof open>>, Refused>;

const runCheck = async ({ strict = false, json = false }: CheckOptions): Promise<void> => {
  const opened = await open(true);
  if ("errors" in opened) {
    if (json) console.log(JSON.stringify({ ready: false, errors: opened.errors }, null, 2));
    return fail(opened);
  }
  const { gateway, settings, upstream, off, close } = opened;
  const { check } = await import("../tools/check.ts");
  const print = json ? () => undefined : console.log;
  print(`configuration is valid; legacy is ${upstream.description}`);
  const result = await check(gateway, { settings, strict, print, off, parts: gateway.features.checks });
  if (json) console.log(JSON.stringify(result, null, 2));
  process.exitCode = result.ready ? 0 : 1;
  await close();
};

/** Listens and starts the features; `undefined` if that fails, and the reason has been printed. */
const begin = async (opened: Opened) => {
  const { gateway, settings, close } = opened;
  const [{ startServer, cannotListen }, { urlOf }] = await Promise.all([
    import("./gateway/server.ts"),
    import("./operation/network/listen.ts"),
  ]);
  const { HOST: host, PORT: port, PREFIXES: prefixes } = settings;
  const server = await startServer(gateway, { host, port, prefixes }).catch((error: NodeJS.ErrnoException) => error);
  if (server instanceof Error) {
    fail(refusedBy(cannotListen("PORT, HOST", host, port, server)));
    return close();
  }
  const url = urlOf(host, server.port);
  const address = `${url}${prefixes[0] ?? ""}`.replace(/\/$/, "");
  const started = await startAll(opened, address).catch((error: Error) => error);
  if (!(started instanceof Error)) return { server, url, started };
  fail(refusedBy(started));
  await server.stop(0);
  return close();
};

/** Starts the features, then the operators' listener; returns the lines to print, in their order. */
const startAll = async ({ gateway, operators }: Opened, address: string): Promise<Started[]> => [
  ...(await gateway.features.start()),
  await operators.start(address),
  { line: describeOldReads(gateway.core) },
];

/** Runs the gateway as the environment says, until a signal ends it. */
export const serveGateway = async (): Promise<void> => {
  const opened = await open(false);
  if ("errors" in opened) return fail(opened);
  const { gateway, settings, fragments, endpoints, observer, upstream } = opened;
  const begun = await begin(opened);
  if (!begun) return;
  const { server, url, started } = begun;
  const { openReload } = await import("./operation/settings/reload.ts");
  const reload = openReload({
    environment: process.env,
    endpoints,
    fragments,
    settings,
    observer,
    apply: gateway.features.reload,
  });
  // From now on an uncaught error ends only the work that threw it, not the service of every caller.
  process.on("uncaughtException", (error, origin) => observer.fault(error, { origin }));
  onStopSignal((urgent) => {
    stop(opened, server, reload, urgent).catch((error: unknown) => {
      observer.fault(error);
      process.exit(1);
    });
  });
  // Printed only now: a program that reads these lines may send the signal to stop at once.
  printStart(opened, url, started);
  // By default the heap may grow to several times what lives in it; here that is mostly the cache, which has its bound.
  // During the start nearly all that is made stays, so collecting it earlier would only take time.
  setFlagsFromString("--heap-growing-percent=30");
  // That flag also bounds memory outside of the heap: every few megabytes of bodies would start a collection of the
  // whole heap. The second flag counts such bytes with the heap.
  setFlagsFromString("--external-memory-accounted-in-global-limit");
  // The gateway answers: modules that it did not need for that are loaded now.
  await upstream.load();
  gateway.core.meter.join(openProcessMetrics());
  flushCompileCache();
};

/** Prints the address of the listener, and the lines of the features. */
const printStart = ({ settings, upstream, off }: Opened, url: string, started: readonly Started[]): void => {
  const listening = [
    `catalog-gateway listens on ${url}, asks ${upstream.description}, serves ${settings.PREFIXES.join(" ")}`,
    ...started.flatMap(({ listensOn }) => listensOn ?? []),
  ];
  console.log(listening.join("; "));
  for (const { line } of started) if (line !== undefined) console.log(line);
  for (const { setting, effect } of off) console.log(`${effect}: ${setting} is not set`);
  for (const warning of fileLimitWarnings(settings)) console.error(warning);
};

/** Milliseconds after a signal from which another signal ends the process at once. */
const SECOND_SIGNAL_MS = 1000;

/**
 * Calls `stop` at the first SIGTERM or SIGINT. The first SIGINT, also after a SIGTERM, only aborts `urgent`: the stop
 * is not to wait for load balancers. A further signal, a second later, ends the process with 1.
 */
const onStopSignal = (stop: (urgent: AbortSignal) => void): void => {
  const urgent = new AbortController();
  let since: number | undefined;
  const take = (signal: NodeJS.Signals): void => {
    const isFirst = since === undefined;
    const endsDelay = signal === "SIGINT" && !urgent.signal.aborted;
    // An earlier signal may be a repetition: npm passes on signals that its process group has already received.
    if (since !== undefined && !endsDelay && performance.now() - since >= SECOND_SIGNAL_MS) process.exit(1);
    if (isFirst || endsDelay) since = performance.now();
    if (endsDelay) urgent.abort();
    if (isFirst) stop(urgent.signal);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, take);
};

const LIMITS = "/proc/self/limits";

/** A warning if this process may open fewer files than `MAX_CLIENT_CONNECTIONS`. Only Linux shows the limit. */
const fileLimitWarnings = ({ MAX_CLIENT_CONNECTIONS }: Settings): string[] => {
  const limits = existsSync(LIMITS) ? readFileSync(LIMITS, "utf8") : "";
  const files = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  if (files > MAX_CLIENT_CONNECTIONS) return [];
  return [
    `MAX_CLIENT_CONNECTIONS: ${MAX_CLIENT_CONNECTIONS} connections, but this process may open ${files} files only: raise that limit (ulimit -n, LimitNOFILE), or set MAX_CLIENT_CONNECTIONS to less`,
  ];
};

/**
 * Ends the process after it has answered the requests in progress. It first keeps serving for `DRAIN_DELAY_MS`, or
 * until `urgent` is aborted.
 */
const stop = async (
  { settings, observer, close }: Opened,
  server: RunningServer,
  reload: { close: () => void },
  urgent: AbortSignal,
): Promise<void> => {
  const { DRAIN_DELAY_MS: delay, DRAIN_TIMEOUT_MS: timeout } = settings;
  observer.event("stopping", { delay: urgent.aborted ? 0 : delay });
  const whole = await server.stop(
    timeout,
    sleep(delay, undefined, { signal: urgent }).catch(() => undefined),
  );
  if (!whole) {
    observer.event("drain_timeout", { ms: timeout });
    process.exit(1);
  }
  reload.close();
  // Work that never ends must not keep the process alive.
  if ((await withTimeout(close(), timeout)) === "late") {
    observer.event("drain_timeout", { ms: timeout });
    process.exit(1);
  }
  const counts = observer.counts();
  if (Object.keys(counts).length > 0) observer.event("stopped", { counts });
  // Unread lines of the standard output would keep the process alive.
  process.exit();
};
