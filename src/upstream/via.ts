import { randomBytes } from "node:crypto";

/** This process's name in Via, different in each so that one gateway may stand behind another. */
export const pseudonym = `catalog-gateway-${randomBytes(4).toString("hex")}`;

/** Appends this gateway to an incoming Via; `version` is the request's HTTP version. */
export const viaThis = (incoming: string | undefined, version = "1.1"): string =>
  incoming === undefined || incoming === "" ? `${version} ${pseudonym}` : `${incoming}, ${version} ${pseudonym}`;

/** Whether a request has been through this process before. */
export const isLoop = (via: string | undefined): boolean => via !== undefined && via.includes(pseudonym);
