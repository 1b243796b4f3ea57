import type { GatewayParts } from "../../support/gateway.ts";
import { gatewayFor, type TestGateway } from "../../support/gateway.ts";
import { secondAdministrator } from "./people.ts";
import { until } from "../../support/waiting.ts";

export type Walking = TestGateway & {
  state: () => NonNullable<ReturnType<NonNullable<TestGateway["services"]["privateRows"]>["state"]>>;
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
  const gateway = await gatewayFor(
    url,
    { ...walking, ...environment },
    { ...parts, walk: { ...fewer, ...parts.walk } },
  );
  const { privateRows } = gateway.services;
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
