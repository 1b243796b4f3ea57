// oxlint-disable-next-line import/no-unassigned-import -- it ends the process where Node is too old
import "./nodeVersion.cjs";
import { setTimeout as sleep } from "node:timers/promises";
import { catalogue } from "../transforms/catalogue.ts";
import { urlOf } from "./operation/network/listen.ts";
import { openGateway } from "./gateway/openGateway.ts";
import { nothing } from "./gateway/answer/additions.ts";
import { openOperators } from "./gateway/operators/operators.ts";
import { settings as operatorsSettings } from "./gateway/operators/settings.ts";
import { startServer } from "./gateway/server.ts";
import { SAMPLE } from "./operation/settings/fields.ts";
import { loadSettings } from "./operation/settings/load.ts";
import { openObserver } from "./operation/telemetry/observer.ts";

// The gateway alone: `src` and `transforms`, without features, libraries and tools. Like `main.ts` it puts the floors
// together, and may import modules that their `index.ts` does not export.
const loaded = loadSettings(process.env, catalogue.endpoints, [operatorsSettings]);
for (const warning of loaded.warnings) console.error(warning);
if ("errors" in loaded || loaded.settings.LEGACY_URL === SAMPLE) {
  const errors =
    "errors" in loaded
      ? loaded.errors
      : ["LEGACY_URL: no origin given; allowed is that of legacy, as no sample is here"];
  for (const error of errors) console.error(error);
  process.exit(2);
}
const { settings } = loaded;
const { HOST: host, PORT, PREFIXES: prefixes, LOG_LEVEL, DRAIN_DELAY_MS, DRAIN_TIMEOUT_MS } = settings;
const gateway = await openGateway(settings, catalogue, openObserver(LOG_LEVEL), nothing);
const operators = openOperators(gateway, settings);
const server = await startServer(gateway, { host, port: PORT, prefixes });
const address = urlOf(host, server.port);
const { listensOn } = await operators.start(`${address}${prefixes[0] ?? ""}`);
const listening = [
  `catalog-gateway, without features, listens on ${address}, asks ${settings.LEGACY_URL}, serves ${prefixes.join(" ")}`,
  listensOn,
];
console.log(listening.join("; "));

const stop = async (): Promise<void> => {
  const isWhole = await server.stop(DRAIN_TIMEOUT_MS, sleep(DRAIN_DELAY_MS));
  await operators.close();
  await gateway.close();
  process.exit(isWhole ? 0 : 1);
};
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.once(signal, () => {
    stop().catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
