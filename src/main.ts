// oxlint-disable-next-line import/no-unassigned-import -- it ends the process where Node is too old
import "./nodeVersion.cjs";
import { enableCompileCache, flushCompileCache, registerHooks } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { RunningServer } from "./serve/server.ts";
import type { Settings } from "./settings/settings.ts";
import type { Observer } from "./telemetry/observer.ts";

// Before anything else is loaded: what is compiled once is not compiled again at the next start.
enableCompileCache();
registerHooks({
  resolve(specifier, context, next) {
    const from = context.parentURL ?? "";
    // A file of ours is named exactly: looking for it, and for what it is, takes longer than running it.
    if (/^\..*\.ts$/.test(specifier))
      return { url: new URL(specifier, from).href, format: "module-typescript", shortCircuit: true };
    // zod's messages in fifty other languages: 15 ms and 5 MB.
    if (specifier === "../locales/index.js" && from.includes("/node_modules/zod/"))
      return { url: "data:text/javascript,", format: "module", shortCircuit: true };
    return next(specifier, context);
  },
});

/** The argument of a worker, which its primary process starts. */
const WORKER = "--worker";
const args = process.argv.slice(2);
const unknown = args.find(
  (arg) => !["--help", "-h", "--version", "-V", "--check", "--strict", "--json", WORKER].includes(arg),
);

const isJson = args.includes("--check") && args.includes("--json");

const fail = (lines: string[]) => {
  for (const line of lines) console.error(line);
  if (isJson) console.log(JSON.stringify({ ready: false, errors: lines }, null, 2));
  process.exitCode = 2;
};

const startUpstream = async (url: string | undefined) => {
  if (url !== undefined) return { url, load: async () => undefined, close: async () => undefined, description: url };
  const { startSampleLegacy } = await import("./tools/sampleLegacy/startSampleLegacy.ts");
  const sample = await startSampleLegacy();
  return { ...sample, description: `${sample.url} (the sample legacy, started beside: LEGACY_URL is not set)` };
};

/** Joins the primary process that has started this one as a worker. */
const join = async () => {
  if (!args.includes(WORKER)) return undefined;
  const { joinPrimary } = await import("./workers/worker.ts");
  return joinPrimary();
};

/** Opens the primary process where the settings ask for several workers. */
const openPrimaryOf = async (settings: Settings, observer: Observer) => {
  if (settings.WORKERS === 1) return undefined;
  const { countWorkers } = await import("./settings/divide.ts");
  const count = countWorkers(settings);
  if (count === 1) return undefined;
  const { openPrimary } = await import("./workers/primary.ts");
  const onHopeless = () => {
    fail(["WORKERS: none is left, and none can be started; what is wrong stands above"]);
    process.exit(1);
  };
  return openPrimary({ count, exec: import.meta.filename, args: [WORKER], observer, onHopeless });
};

/** Reads the settings and opens the gateway that they describe. `undefined`: it cannot be, and the reason has been printed. */
const open = async (isCheck: boolean) => {
  const [
    { features },
    { loadFeatures },
    { catalogue },
    { loadSettings },
    { ownAddressErrors },
    { dataDirectoryErrors },
    { divideSettings },
  ] = await Promise.all([
    import("./features/index.ts"),
    import("./serve/feature.ts"),
    import("../transforms/catalogue.ts"),
    import("./settings/load.ts"),
    import("./settings/ownAddress.ts"),
    import("./store/dataDirectory.ts"),
    import("./settings/divide.ts"),
  ]);
  const fragments = features.map(({ settings }) => settings);
  const joined = await join();
  const loaded = joined ?? loadSettings(process.env, catalogue.endpoints, fragments);
  if ("errors" in loaded) return fail(loaded.errors);
  const { settings, warnings } = loaded;
  for (const warning of warnings) console.error(warning);
  // What the primary process has found to be right is not asked again.
  const errors = joined ? [] : [...ownAddressErrors(settings), ...(isCheck ? [] : dataDirectoryErrors(settings))];
  if (errors.length > 0) return fail(errors);
  const [{ openGateway }, { openObserver }, { modules, off }] = await Promise.all([
    import("./serve/gateway.ts"),
    import("./telemetry/observer.ts"),
    loadFeatures(features, settings),
  ]);
  const observer = openObserver(settings.LOG_LEVEL, 2, joined?.number);
  const upstream = await startUpstream(joined?.legacy ?? settings.LEGACY_URL);
  const primary = isCheck || joined ? undefined : await openPrimaryOf(settings, observer);
  const share = joined ? divideSettings(settings, fragments, joined.count) : settings;
  const gatewaySettings = { ...share, LEGACY_URL: upstream.url };
  const parts = { features: modules, off, isCheck, peers: (joined ?? primary)?.peers };
  const gateway = await openGateway(gatewaySettings, catalogue, observer, parts).catch((error: Error) => error);
  if (gateway instanceof Error) {
    fail([gateway.message]);
    return upstream.close();
  }
  const close = async () => {
    await gateway.close();
    await upstream.close();
    await joined?.leave();
  };
  const { endpoints } = catalogue;
  return { gateway, settings, fragments, endpoints, observer, upstream, off, close, joined, primary };
};
type Opened = Exclude<Awaited<ReturnType<typeof open>>, undefined | void>;

const runCheck = async ({ gateway, settings, upstream, close }: Opened): Promise<void> => {
  const { check } = await import("./serve/check.ts");
  const print = isJson ? () => undefined : console.log;
  print(`configuration is valid; legacy is ${upstream.description}`);
  const result = await check(gateway, { settings, strict: args.includes("--strict"), print });
  if (isJson) console.log(JSON.stringify(result, null, 2));
  process.exitCode = result.ready ? 0 : 1;
  await close();
};

/** Listens, by itself or by its workers. Resolves with the reason if that cannot be. */
const listen = async ({
  gateway,
  settings,
  upstream,
  joined,
  primary,
}: Opened): Promise<RunningServer | { why: string[] }> => {
  if (primary !== undefined) {
    const { meter } = gateway.services;
    const server = await primary.start({ settings, legacy: upstream.url, meter });
    // The worker that could not start has said why.
    return server ?? { why: [] };
  }
  const { startServer, cannotListen } = await import("./serve/server.ts");
  const { HOST: host, PORT: port, PREFIXES: prefixes } = settings;
  return startServer(gateway, { host, port, prefixes, isShared: joined !== undefined }).catch(
    (error: NodeJS.ErrnoException) => ({
      why: [cannotListen("PORT, HOST", host, port, error)],
    }),
  );
};

/** Listens and starts the features; `undefined` if that cannot be, and the reason has been printed. */
const begin = async (opened: Opened) => {
  const { gateway, close, joined, primary } = opened;
  const isAlone = joined === undefined && primary === undefined;
  const startFeatures = () => gateway.start().catch((error: Error) => ({ why: [error.message] }));
  // Workers ask the primary process for what its features have opened, and need it before their first request.
  const early = isAlone ? undefined : await startFeatures();
  if (early && "why" in early) {
    fail(early.why);
    return close();
  }
  const server = await listen(opened);
  if ("why" in server) {
    fail(server.why);
    return close();
  }
  const started = early ?? (await startFeatures());
  if (!("why" in started)) return { server, started };
  fail(started.why);
  await server.stop(0);
  return close();
};

const serve = async (opened: Opened): Promise<void> => {
  const { gateway, settings, fragments, endpoints, observer, upstream, joined, primary } = opened;
  const begun = await begin(opened);
  if (!begun) return;
  const { server, started } = begun;
  const { onStopSignal } = await import("./serve/stopSignals.ts");
  const { openReload } = await import("./settings/reload.ts");
  const reloadable = fragments.flatMap((one) => one.reloadable ?? []);
  const apply = async (next: typeof settings): Promise<string[]> => {
    const errors = await gateway.reload(next);
    if (errors.length === 0) primary?.reloaded(next, reloadable);
    return errors;
  };
  const isWatching = joined === undefined;
  const reload = openReload({ environment: process.env, endpoints, fragments, settings, isWatching, observer, apply });
  onStopSignal((urgent) => stop(opened, server, reload, urgent));
  // Only now: a program that reads these lines may send the signal to stop at once.
  if (joined) await joined.listens(server.port);
  else await printStart(opened, server.port, started);
  // By default the heap may grow to several times what lives in it; here that is mostly the cache, which has its bound. During the
  // start nearly all that is made stays, so collecting it earlier would only take time.
  setFlagsFromString("--heap-growing-percent=30");
  // The gateway answers: what it did not need for that is loaded now.
  await upstream.load();
  const { collectDefaultMetrics } = await import("prom-client");
  collectDefaultMetrics({ register: gateway.services.meter.registry });
  flushCompileCache();
};

/** Prints where it listens, and what the features do. */
const printStart = async (
  { settings, upstream, off, primary }: Opened,
  port: number,
  started: Awaited<ReturnType<Opened["gateway"]["start"]>>,
): Promise<void> => {
  const { urlOf } = await import("./serve/server.ts");
  const { HOST: host, PREFIXES: prefixes } = settings;
  const listening = [
    `catalog-gateway listens on ${urlOf(host, port)}, asks ${upstream.description}, serves ${prefixes.join(" ")}`,
    ...started.flatMap(({ listensOn }) => listensOn ?? []),
  ];
  console.log(listening.join("; "));
  if (primary)
    console.log(`${primary.count} workers share the port; each has its share of the bounds on memory and connections`);
  for (const { line } of started) if (line !== undefined) console.log(line);
  for (const { setting, effect } of off) console.log(`${effect}: ${setting} is not set`);
};

/** Ends the process after what it has begun to answer. It serves on for `DRAIN_DELAY_MS` first, or until `urgent` is aborted. */
const stop = async (
  { gateway, settings, observer, close, primary }: Opened,
  server: RunningServer,
  reload: { close: () => void },
  urgent: AbortSignal,
): Promise<void> => {
  const { DRAIN_DELAY_MS: delay, DRAIN_TIMEOUT_MS: timeout } = settings;
  observer.event("stopping", { delay: urgent.aborted ? 0 : delay });
  gateway.beginStop();
  primary?.passOn(urgent);
  const whole = await server.stop(
    timeout,
    sleep(delay, undefined, { signal: urgent }).catch(() => undefined),
  );
  if (!whole) {
    // Of workers their own events say what they cut off.
    if (!primary) observer.event("drain_timeout", { ms: timeout });
    process.exit(1);
  }
  reload.close();
  await close();
  const counts = observer.counts();
  if (Object.keys(counts).length > 0) observer.event("stopped", { counts });
  // Unread lines of the standard output would keep the process from ending by itself.
  process.exit();
};

const help = async (): Promise<void> => {
  const [{ features }, { settingsHelp }] = await Promise.all([
    import("./features/index.ts"),
    import("./settings/help.ts"),
  ]);
  console.log(settingsHelp(features.map(({ settings }) => settings)));
};

const version = async (): Promise<void> => {
  const { default: about } = await import("../package.json", { with: { type: "json" } });
  console.log(`${about.name} ${about.version}`);
};

// A reader that leaves (`npm start -- --check | head -1`) ends neither the check nor the gateway.
process.stdout.on("error", () => undefined);
if (unknown !== undefined)
  fail([`${unknown}: unknown option; allowed are --check, --strict, --json, --help, --version`]);
else if (args.includes("--help") || args.includes("-h")) await help();
else if (args.includes("--version") || args.includes("-V")) await version();
else {
  const isCheck = args.includes("--check");
  const opened = await open(isCheck);
  if (opened) await (isCheck ? runCheck(opened) : serve(opened));
  // The connection to the primary process would keep a worker alive that could not start.
  if (args.includes(WORKER) && process.exitCode !== undefined) process.exit();
}
