import { enableCompileCache, flushCompileCache } from "node:module";

// Before anything else is loaded: what is compiled once is not compiled again at the next start.
enableCompileCache();

const { loadSettings } = await import("./config/load.ts");
const args = process.argv.slice(2);
const unknown = args.find((arg) => !["--help", "-h", "--check"].includes(arg));

const fail = (lines: string[]) => {
  for (const line of lines) console.error(line);
  process.exitCode = 2;
};

const startUpstream = async (url: string | undefined) => {
  if (url !== undefined) return { url, close: async () => undefined, told: url };
  const { startSampleLegacy } = await import("../fixtures/sampleLegacy/startSampleLegacy.ts");
  const sample = await startSampleLegacy();
  return { ...sample, told: `${sample.url} (the sample legacy, started beside: LEGACY_URL is not set)` };
};

const run = async (): Promise<void> => {
  const loaded = loadSettings(process.env);
  if ("errors" in loaded) return fail(loaded.errors);
  const { settings } = loaded;
  const [{ openGateway }, { startServer }, { openObserver }, { catalogue }] = await Promise.all([
    import("./gateway/gateway.ts"),
    import("./gateway/server.ts"),
    import("./observe.ts"),
    import("../transforms/catalogue.ts"),
  ]);
  const upstream = await startUpstream(settings.LEGACY_URL);
  const observer = openObserver(settings.LOG_LEVEL);
  const gateway = openGateway({ ...settings, LEGACY_URL: upstream.url }, catalogue, observer);
  const close = async () => {
    await gateway.close();
    await upstream.close();
  };

  if (args.includes("--check")) {
    const { check } = await import("./check.ts");
    console.log(`configuration is valid; legacy is ${upstream.told}`);
    const good = await check(gateway, catalogue, settings.PREFIXES[0] as string, console.log);
    process.exitCode = good ? 0 : 1;
    return close();
  }

  const { HOST: host, PORT: port, PREFIXES: prefixes } = settings;
  const server = await startServer(gateway, { host, port, prefixes }).catch((error: NodeJS.ErrnoException) => error);
  if (server instanceof Error) {
    fail([
      `PORT, HOST: ${host}:${port} cannot be listened on (${server.code ?? server.message}); allowed is a free port of this machine`,
    ]);
    return close();
  }
  console.log(
    `catalog-gateway listens on http://${host.includes(":") ? `[${host}]` : host}:${server.port}, asks ${upstream.told}, serves ${prefixes.join(" ")}`,
  );
  flushCompileCache();

  let stopping = false;
  const stop = async () => {
    // A second signal means now.
    if (stopping) process.exit(1);
    stopping = true;
    const whole = await server.stop(settings.DRAIN_TIMEOUT_MS);
    if (!whole) {
      observer.log.error({ event: "drain_timeout", ms: settings.DRAIN_TIMEOUT_MS });
      process.exit(1);
    }
    await close();
    const counts = observer.counts();
    if (Object.keys(counts).length > 0) observer.log.info({ event: "stopped", counts });
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
};

if (unknown !== undefined) fail([`${unknown}: unknown option; allowed are --check, --help`]);
else if (args.includes("--help") || args.includes("-h")) console.log((await import("./config/help.ts")).helpText());
else await run();
