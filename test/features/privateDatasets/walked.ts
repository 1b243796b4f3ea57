import type { GatewayParts } from "../../../src/serve/gateway.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { eventually } from "./eventually.ts";
import { secondAdministrator } from "./people.ts";

export type Walking = ReturnType<typeof gatewayFor> & {
  state: () => NonNullable<ReturnType<NonNullable<ReturnType<typeof gatewayFor>["services"]["privateRows"]>["state"]>>;
};

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
  parts: GatewayParts = {},
): Promise<Walking> => {
  const gateway = gatewayFor(url, { ...walking, ...environment }, { ...parts, walk: { ...fewer, ...parts.walk } });
  const { privateRows } = gateway.services;
  if (privateRows === undefined) throw new Error("nothing is looked for");
  await privateRows.start();
  return { ...gateway, state: () => privateRows.state() };
};

/** A gateway that has looked at every id once. */
export const startWalked = async (...about: Parameters<typeof startWalking>): Promise<Walking> => {
  const gateway = await startWalking(...about);
  await eventually(() => gateway.state().state === "complete");
  return gateway;
};
