import type { Feature } from "../../../src/serve/feature.ts";
import type { Search } from "../../../src/features/privateDatasets/search.ts";
import type { PrivateDatasetsParts } from "../../../src/features/privateDatasets/feature.ts";
import { type GatewayParts, gatewayFor, openedBy, type TestGateway } from "../../support/gateway.ts";
import { secondAdministrator } from "./people.ts";
import { until } from "../../support/waiting.ts";

export type Walking = TestGateway & { state: () => ReturnType<Search["state"]> };

/** Parts of the gateway and of this feature. */
export type WalkingParts = GatewayParts & PrivateDatasetsParts;

/** The search for private rows; `undefined` where there is none. */
export const searchOf = (gateway: TestGateway): Search | undefined =>
  openedBy<Feature & { privateRows?: Search }, "privateRows">(gateway, "privateRows");

/** What a gateway that looks for private rows is set to here: as fast as it can, and with an administrator's key. */
export const walking = {
  LEGACY_ADMIN_KEY: secondAdministrator.key,
  PRIVATE_WALK_RATE: "100000",
};

/** Ids beyond the highest one that are looked at here. */
export const BEYOND = 10;
/** What takes less time so. */
export const fewer = { margin: BEYOND };

/** A gateway that has begun to look for private rows. */
export const startWalking = async (
  url: string,
  environment: Record<string, string> = {},
  parts: WalkingParts = {},
): Promise<Walking> => {
  const gateway = await gatewayFor(
    url,
    { ...walking, ...environment },
    { ...parts, walk: { ...fewer, ...parts.walk } },
  );
  const privateRows = searchOf(gateway);
  if (privateRows === undefined) throw new Error("nothing is looked for");
  await privateRows.start();
  return { ...gateway, state: () => privateRows.state() };
};

/** A gateway that has looked at every id once. */
export const startWalked = async (...about: Parameters<typeof startWalking>): Promise<Walking> => {
  const gateway = await startWalking(...about);
  await until(() => gateway.state().state === "complete");
  return gateway;
};
