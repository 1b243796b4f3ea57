import type { PrivateRowsView } from "../../../features/privateDatasets/scan.ts";
import type { PrivateDatasetsParts } from "../../../features/privateDatasets/feature.ts";
import { type GatewayParts, gatewayFor, type TestGateway } from "../../support/gateway.ts";
import { secondAdministrator } from "./people.ts";
import { until } from "../../support/waiting.ts";

export type Scanning = TestGateway & { state: () => PrivateRowsView };

/** Parts of the gateway and of this feature. */
export type ScanningParts = GatewayParts & PrivateDatasetsParts;

/** The scan of a gateway; `undefined` if it has no scan. */
export const scanOf = ({ features }: TestGateway) => features.privateDatasets?.privateRows;

/** The settings of a gateway that scans. */
export const scanSettings = { LEGACY_ADMIN_KEY: secondAdministrator.key };

/** The number of ids beyond the highest that are read here. */
export const BEYOND = 10;
/** Options that make a scan faster. */
export const fewer = { margin: BEYOND };

/** A gateway that has begun to scan. */
export const startScanning = async (
  url: string,
  environment: Record<string, string> = {},
  parts: ScanningParts = {},
): Promise<Scanning> => {
  const gateway = await gatewayFor(
    url,
    { ...scanSettings, ...environment },
    { ...parts, scan: { ...fewer, ...parts.scan } },
  );
  const scan = scanOf(gateway);
  if (scan === undefined) throw new Error("nothing is scanned");
  await scan.start();
  return { ...gateway, state: () => scan.state() };
};

/** A gateway that has completed its first scan. */
export const startScanned = async (...about: Parameters<typeof startScanning>): Promise<Scanning> => {
  const gateway = await startScanning(...about);
  await until(() => gateway.state().state === "complete");
  return gateway;
};
