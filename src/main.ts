import { enableCompileCache, flushCompileCache, registerHooks } from "node:module";
import { setFlagsFromString } from "node:v8";

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

const args = process.argv.slice(2);
const unknown = args.find((arg) => !["--help", "-h", "--check", "--strict"].includes(arg));

const fail = (lines: string[]) => {
  for (const line of lines) console.error(line);
  process.exitCode = 2;
};

/** Milliseconds after the first signal to stop from which another one stops at once. */
const SECOND_SIGNAL_MS = 1000;

const startUpstream = async (url: string | undefined) => {
  if (url !== undefined) return { url, load: async () => undefined, close: async () => undefined, description: url };
  const { startSampleLegacy } = await import("./tools/sampleLegacy/startSampleLegacy.ts");
  const sample = await startSampleLegacy();
  return { ...sample, description: `${sample.url} (the sample legacy, started beside: LEGACY_URL is not set)` };
};

const run = async (): Promise<void> => {
  const isCheck = args.includes("--check");
  const [{ features }, { loadFeatures }, { catalogue }, { loadSettings }] = await Promise.all([
    import("./features/index.ts"),
    import("./serve/feature.ts"),
    import("../transforms/catalogue.ts"),
    import("./settings/load.ts"),
  ]);
  const fragments = features.map(({ settings }) => settings);
  const loaded = loadSettings(process.env, catalogue.endpoints, fragments);
  if ("errors" in loaded) return fail(loaded.errors);
  const { settings, warnings } = loaded;
  for (const warning of warnings) console.error(warning);
  const [{ openGateway }, { openObserver }, { modules, off }] = await Promise.all([
    import("./serve/gateway.ts"),
    import("./telemetry/observer.ts"),
    loadFeatures(features, settings),
  ]);
  const observer = openObserver(settings.LOG_LEVEL);
  const upstream = await startUpstream(settings.LEGACY_URL);
  const gatewaySettings = { ...settings, LEGACY_URL: upstream.url };
  const parts = { features: modules, off, isCheck };
  const gateway = await openGateway(gatewaySettings, catalogue, observer, parts).catch((error: Error) => error);
  if (gateway instanceof Error) {
    fail([gateway.message]);
    return upstream.close();
  }
  const close = async () => {
    await gateway.close();
    await upstream.close();
  };

  if (isCheck) {
    const { check } = await import("./serve/check.ts");
    console.log(`configuration is valid; legacy is ${upstream.description}`);
    const strict = args.includes("--strict");
    const good = await check(gateway, { settings, strict, print: console.log });
    process.exitCode = good ? 0 : 1;
    return close();
  }

  const { startServer, cannotListen, urlOf } = await import("./serve/server.ts");
  const { HOST: host, PORT: port, PREFIXES: prefixes } = settings;
  const server = await startServer(gateway, { host, port, prefixes }).catch((error: NodeJS.ErrnoException) => error);
  if (server instanceof Error) {
    fail([cannotListen("PORT, HOST", host, port, server)]);
    return close();
  }
  const started = await gateway.start().catch((error: Error) => error);
  if (started instanceof Error) {
    fail([started.message]);
    await server.stop(0);
    return close();
  }
  const { openReload } = await import("./settings/reload.ts");
  const reload = openReload({
    environment: process.env,
    endpoints: catalogue.endpoints,
    fragments,
    settings,
    observer,
    apply: (next) => gateway.reload(next),
  });
  let stoppingSince: number | undefined;
  const stop = async () => {
    if (stoppingSince !== undefined) {
      // A second signal means now, unless it is the first one again: npm passes on what its group of processes has had already.
      if (performance.now() - stoppingSince >= SECOND_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    const whole = await server.stop(settings.DRAIN_TIMEOUT_MS);
    if (!whole) {
      observer.log.error({ event: "drain_timeout", ms: settings.DRAIN_TIMEOUT_MS });
      process.exit(1);
    }
    reload.close();
    await close();
    const counts = observer.counts();
    if (Object.keys(counts).length > 0) observer.log.info({ event: "stopped", counts });
    // Unread lines of the standard output would keep the process from ending by itself.
    process.exit();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
  // Only now: a program that reads this line may send the signal to stop at once.
  const listening = [
    `catalog-gateway listens on ${urlOf(host, server.port)}, asks ${upstream.description}, serves ${prefixes.join(" ")}`,
    ...started.flatMap(({ listensOn }) => listensOn ?? []),
  ];
  console.log(listening.join("; "));
  for (const { line } of started) if (line !== undefined) console.log(line);
  for (const { setting, effect } of off) console.log(`${effect}: ${setting} is not set`);
  // By default the heap may grow to several times what lives in it; here that is mostly the cache, which has its bound. During the
  // start nearly all that is made stays, so collecting it earlier would only take time.
  setFlagsFromString("--heap-growing-percent=30");
  // The gateway answers: what it did not need for that is loaded now.
  await upstream.load();
  const { collectDefaultMetrics } = await import("prom-client");
  collectDefaultMetrics({ register: gateway.services.meter.registry });
  flushCompileCache();
};

const help = async (): Promise<void> => {
  const [{ features }, { settingsHelp }] = await Promise.all([
    import("./features/index.ts"),
    import("./settings/help.ts"),
  ]);
  console.log(settingsHelp(features.map(({ settings }) => settings)));
};

if (unknown !== undefined) fail([`${unknown}: unknown option; allowed are --check, --strict, --help`]);
else if (args.includes("--help") || args.includes("-h")) await help();
else await run();
