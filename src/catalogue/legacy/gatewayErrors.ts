import { pathOf } from "../endpoint/target.ts";
import type { LegacyTarget } from "./legacyTarget.ts";

/**
 * The way a client of legacy's server reads errors. `none`: it saves any body as its data file, so errors have no body.
 */
type GatewayErrorFormat = "json" | "xml" | "none";

/**
 * The format of errors for a request; `undefined`: the request is neither for legacy's interface nor for a data file.
 * `legacy`: its target in that interface. `files`: matches the paths of data files.
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

/** Legacy's code for a failing database: it has done nothing, and some clients repeat the request. */
export const UNDONE = "107";

/**
 * The code and the message of an error that the gateway itself answers. `mayRepeat`: nothing was done, and repeating
 * the request may help. Otherwise the code is higher than all codes of legacy, and no client repeats the request.
 * openml-r reads any message with "No results" as an empty table.
 */
export const gatewayError = (status: number, detail: string, mayRepeat: boolean): { code: string; message: string } =>
  mayRepeat
    ? { code: UNDONE, message: `Database connection error. ${detail}` }
    : { code: `9${status}`, message: detail };

/**
 * The fate of a write that a gateway answered with this code; `undefined`: the code comes from legacy. 9410 and 9503
 * are brown-outs.
 */
export const fateByCode = (code: string | undefined): "refused" | "unknown" | undefined => {
  if (code === undefined || !/^(?:107|9[45]\d\d)$/.test(code)) return undefined;
  return code.startsWith("95") && code !== "9503" ? "unknown" : "refused";
};

/**
 * Writes an error as legacy does. openml-r reads `application/xml` as a page, and mlr3oml finds no code after a prolog.
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
