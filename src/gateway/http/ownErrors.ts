import {
  type Answer,
  gatewayError,
  type GatewayErrorFormatOf,
  isLegacyRead,
  type LegacyWriteKnowledge,
  pathOf,
  type ReadLegacyTarget,
  withoutFormat,
  writeLegacyError,
} from "../../catalogue/index.ts";
import { isBelow } from "./requestTarget.ts";

/** Who may send a request again: anybody, since nothing was done; only who reads; or it is of no use. */
export type MayRepeat = "always" | "reads" | "never";

/**
 * An error of the gateway's own. `detail`: makes what it says, where it is written. `retryAfter`: seconds
 * after which to ask again.
 */
type OwnError = { status: number; detail: () => string; mayRepeat: MayRepeat; retryAfter?: string | undefined };

/**
 * Writes an error of the gateway's own as clients of legacy's server read errors; `undefined`: such a client
 * did not send the request.
 */
export type WriteOwnError = (
  request: { method: string | undefined; target: string },
  error: OwnError,
) => (Answer & { type: string }) | undefined;

/** Seconds after which clients should ask again, where nothing else says so. */
const RETRY_AFTER = "5";

/**
 * Opens the writer of errors for clients of legacy's server. Below `prefixes` other than `/` its paths
 * are the new interface's.
 */
export const openOwnErrors = (
  prefixes: readonly string[],
  formatOf: GatewayErrorFormatOf,
  readTarget: ReadLegacyTarget,
  knowledge: LegacyWriteKnowledge,
): WriteOwnError => {
  const others = prefixes.filter((prefix) => prefix !== "/");
  return ({ method = "GET", target }, { status, detail, mayRepeat, retryAfter }) => {
    const format = others.some((prefix) => isBelow(pathOf(target), prefix)) ? undefined : formatOf(method, target);
    if (format === undefined) return undefined;
    const legacy = readTarget(target);
    const isRead = legacy !== undefined && isLegacyRead(knowledge, method, withoutFormat(legacy));
    const isWorthIt = mayRepeat === "always" || (mayRepeat === "reads" && isRead);
    const wait = retryAfter ?? (isWorthIt && format !== "none" ? RETRY_AFTER : undefined);
    return {
      status,
      ...writeLegacyError(format, gatewayError(status, detail(), isWorthIt)),
      ...(wait === undefined ? {} : { headers: { "Retry-After": wait } }),
    };
  };
};
