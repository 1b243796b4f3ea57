import { enableCompileCache, flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

// Before anything else is loaded: what is compiled once is not compiled again at the next start.
enableCompileCache();
// By default the heap may grow to several times what lives in it; here that is mostly the cache, which has its bound.
setFlagsFromString("--heap-growing-percent=30");

import type { PrivateRows } from "./features/privateDatasets/privateRows.ts";
import type { Migration } from "./features/migration/migration.ts";

const { loadSettings } = await import("./settings/load.ts");
const args = process.argv.slice(2);
const unknown = args.find((arg) => !["--help", "-h", "--check", "--strict"].includes(arg));

const fail = (lines: string[]) => {
  for (const line of lines) console.error(line);
  process.exitCode = 2;
};

/** Milliseconds after the first signal to stop from which another one stops at once. */
const SECOND_SIGNAL_MS = 1000;

const urlOf = (host: string, port: number): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

const cannotListen = (settings: string, host: string, port: number, error: NodeJS.ErrnoException): string =>
  `${settings}: ${host}:${port} cannot be listened on (${error.code ?? error.message}); allowed is a free port of this machine`;

const stagesTold = (migration: Migration): string => {
  if (!migration.hasModern) return "every endpoint stays with legacy: MODERN_URL is not set";
  const moved = Object.entries(migration.view()).filter(([, { stage }]) => stage !== "legacy");
  const told = moved.map(([name, { stage, share }]) => `${name} ${stage} ${share} %`).join(", ");
  return told === "" ? "every endpoint is in the stage legacy" : `stages: ${told}; all others legacy`;
};

const privateRowsTold = (privateRows: PrivateRows | undefined): string =>
  privateRows === undefined
    ? "administrators are listed no private datasets but their own: LEGACY_ADMIN_KEY is not set"
    : `private datasets are looked for and listed to administrators; what is found is kept in ${keptIn[privateRows.state().kept]}`;
const keptIn = {
  memory: "memory: it is looked for anew after a restart, unless DATA_DIR or REDIS_URL is set",
  directory: "DATA_DIR",
  redis: "Redis",
};

const startUpstream = async (url: string | undefined) => {
  if (url !== undefined) return { url, close: async () => undefined, told: url };
  const { startSampleLegacy } = await import("./tools/sampleLegacy/startSampleLegacy.ts");
  const sample = await startSampleLegacy();
  return { ...sample, told: `${sample.url} (the sample legacy, started beside: LEGACY_URL is not set)` };
};

const run = async (): Promise<void> => {
  const { catalogue } = await import("../transforms/catalogue.ts");
  const loaded = loadSettings(process.env, catalogue.endpoints);
  if ("errors" in loaded) return fail(loaded.errors);
  const { settings } = loaded;
  const [
    { openGateway },
    { startServer },
    { adminApp },
    { startAdminServer },
    { openObserver },
    { collectDefaultMetrics },
    { readLedger },
    { openMigrationStore },
    { memoryStateStore },
    { openReload },
    { openIndexStore },
  ] = await Promise.all([
    import("./serve/gateway.ts"),
    import("./serve/server.ts"),
    import("./features/console/admin.ts"),
    import("./features/console/adminServer.ts"),
    import("./telemetry/observer.ts"),
    import("prom-client"),
    import("./compare/readLedger.ts"),
    import("./features/migration/store/openStore.ts"),
    import("./features/migration/store/stateStore.ts"),
    import("./settings/reload.ts"),
    import("./features/privateDatasets/store/openIndexStore.ts"),
  ]);
  const expected = readLedger(settings.EXPECTED_DIFFERENCES ?? catalogue.expectedDifferences, "EXPECTED_DIFFERENCES");
  if ("errors" in expected) return fail(expected.errors);
  const observer = openObserver(settings.LOG_LEVEL);
  const isCheck = args.includes("--check");
  // A check writes nothing, and may run beside the gateway.
  const opening = isCheck
    ? Promise.resolve(memoryStateStore())
    : openMigrationStore(settings, Object.keys(catalogue.endpoints), (event, about) => observer.event(event, about));
  const store = await opening.catch((error: Error) => error);
  if (store instanceof Error) return fail([store.message]);
  const upstream = await startUpstream(settings.LEGACY_URL);
  const tier =
    settings.REDIS_URL === undefined ? undefined : (await import("./features/sharedCache/redisTier.ts")).redisTier;
  // A check compares both sides itself: whatever the stages are, what it asks the gateway for is legacy's answer.
  const stages = isCheck ? {} : settings.STAGES;
  const gateway = openGateway({ ...settings, LEGACY_URL: upstream.url, STAGES: stages }, catalogue, observer, {
    redisTier: tier,
    store,
    expected: expected.entries,
    openIndexStore: openIndexStore(settings),
  });
  const close = async () => {
    await gateway.close();
    await upstream.close();
  };

  if (isCheck) {
    const { check } = await import("./serve/check.ts");
    console.log(`configuration is valid; legacy is ${upstream.told}`);
    const strict = args.includes("--strict");
    const good = await check(gateway, catalogue, {
      prefix: settings.PREFIXES[0] as string,
      strict,
      print: console.log,
      adminKey: settings.LEGACY_ADMIN_KEY,
    });
    process.exitCode = good ? 0 : 1;
    return close();
  }

  const { HOST: host, PORT: port, PREFIXES: prefixes } = settings;
  const server = await startServer(gateway, { host, port, prefixes }).catch((error: NodeJS.ErrnoException) => error);
  if (server instanceof Error) {
    fail([cannotListen("PORT, HOST", host, port, server)]);
    return close();
  }
  const { migration, privateRows } = gateway.services;
  const unusable = await privateRows?.start().catch((error: Error) => error);
  if (unusable) {
    fail([unusable.message]);
    await server.stop(0);
    return close();
  }
  const reload = openReload({
    environment: process.env,
    endpoints: catalogue.endpoints,
    settings,
    observer,
    async apply(next) {
      const ledger = readLedger(next.EXPECTED_DIFFERENCES ?? catalogue.expectedDifferences, "EXPECTED_DIFFERENCES");
      if ("errors" in ledger) return ledger.errors;
      await migration.configure(next.STAGES, ledger.entries);
      gateway.oldClients.reconfigure({ ...settings, DEPRECATED: next.DEPRECATED, BROWNOUTS: next.BROWNOUTS });
      return [];
    },
  });
  let stoppingSince: number | undefined;
  const { ADMIN_HOST: adminHost, ADMIN_PORT: adminPort, ADMIN_TOKEN: token } = settings;
  const app = adminApp(gateway.services, {
    host: adminHost,
    token,
    windows: gateway.windows,
    bytes: settings.CACHE_BYTES,
    entryBytes: settings.CACHE_ENTRY_BYTES,
    clients: gateway.oldClients.clients,
    isReady: () => stoppingSince === undefined,
    dispatches: gateway.dispatches,
  });
  const admin = await startAdminServer(app, adminHost, adminPort, gateway.clientLimits).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  if (admin instanceof Error) {
    fail([cannotListen("ADMIN_PORT, ADMIN_HOST", adminHost, adminPort, admin)]);
    await server.stop(0);
    return close();
  }
  collectDefaultMetrics({ register: gateway.services.meter.registry });

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
    await admin.stop();
    await close();
    const counts = observer.counts();
    if (Object.keys(counts).length > 0) observer.log.info({ event: "stopped", counts });
    // Lines of the standard output that nobody reads would keep the process from ending by itself.
    process.exit();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
  // Only now: whoever reads this may stop it.
  console.log(
    `catalog-gateway listens on ${urlOf(host, server.port)}, asks ${upstream.told}, serves ${prefixes.join(" ")}; operators: ${urlOf(adminHost, admin.port)}`,
  );
  console.log(stagesTold(migration));
  console.log(privateRowsTold(privateRows));
  flushCompileCache();
};

if (unknown !== undefined) fail([`${unknown}: unknown option; allowed are --check, --strict, --help`]);
else if (args.includes("--help") || args.includes("-h")) console.log((await import("./settings/help.ts")).helpText());
else await run();
