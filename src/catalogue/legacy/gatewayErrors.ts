import { pathOf } from "../endpoint/target.ts";
import type { LegacyTarget } from "./legacyTarget.ts";

/**
 * How a client of legacy's server reads errors. `none`: it keeps any byte as its data file, so the error has no body.
 */
export type GatewayErrorFormat = "json" | "xml" | "none";

/**
 * The format of errors for a request; `undefined`: it is neither for legacy's interface nor for a data file. `legacy`:
 * its target in that interface. `files`: matches the paths of data files.
 */
export const gatewayErrorFormat = (
  { method, target }: { method: string; target: string },
  legacy: Pick<LegacyTarget, "segments"> | undefined,
  files: RegExp,
): GatewayErrorFormat | undefined => {
  if (method === "GET" && files.test(pathOf(target))) return "none";
  if (legacy === undefined) return undefined;
  return legacy.segments[0] === "json" ? "json" : "xml";
};

/** Legacy's code for a failing database: it has done nothing, and some clients ask again. */
export const UNDONE = "107";

/**
 * The code and the message of an error of the gateway's own. `mayRepeat`: nothing was done, and it is worth asking
 * again. Otherwise the code is higher than all of legacy's, and no client asks again. openml-r takes any message with
 * "No results" for an empty table.
 */
export const gatewayError = (status: number, detail: string, mayRepeat: boolean): { code: string; message: string } =>
  mayRepeat
    ? { code: UNDONE, message: `Database connection error. ${detail}` }
    : { code: `9${status}`, message: detail };

/**
 * What became of a write that a gateway answered with this code; `undefined`: the code is legacy's own. 9410
 * and 9503 are brown-outs.
 */
export const fateByCode = (code: string | undefined): "refused" | "unknown" | undefined => {
  if (code === undefined || !/^(?:107|9[45]\d\d)$/.test(code)) return undefined;
  return code.startsWith("95") && code !== "9503" ? "unknown" : "refused";
};

/**
 * Writes an error as legacy does. openml-r takes `application/xml` for a page, and mlr3oml finds
 * no code behind a prolog.
 */
export const writeLegacyError = (
  format: GatewayErrorFormat,
  { code, message, additional }: { code: string; message: string; additional?: string },
): { type: string; body: string } => {
  if (format === "none") return { type: "text/plain", body: "" };
  if (format === "json") {
    const error = { code, message, ...(additional === undefined ? {} : { additional_information: additional }) };
    return { type: "application/json; charset=utf-8", body: JSON.stringify({ error }) };
  }
  const more =
    additional === undefined
      ? ""
      : `\t\t<oml:additional_information>${escaped(additional)}</oml:additional_information>\n`;
  return {
    type: "text/xml; charset=utf-8",
    body: `<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>${code}</oml:code>\n\t<oml:message>${escaped(message)}</oml:message>\n${more}\t</oml:error>\n`,
  };
};

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
