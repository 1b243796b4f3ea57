import { isBelow } from "../../gateway/http/requestTarget.ts";
import type { OwnAnswer } from "../../gateway/proxy/refuse.ts";
import { deprecationHeaders, deprecationLink } from "./deprecationHeaders.ts";
import type { Brownout, Deprecation } from "./settings.ts";

/** Clients expect numbers. These are higher than all of legacy's own codes. */
const codes = { 410: "9410", 503: "9503" };

/**
 * The answer during a brown-out, in the error format of a path of the legacy interface: JSON below `jsonPath`, else XML. Without a path it is
 * text.
 */
export const brownoutAnswer = (
  { path: below, from, until, status, link }: Brownout,
  deprecation: Deprecation | undefined,
  path: string | undefined,
  jsonPath: string,
): OwnAnswer => {
  const { successor, sunset } = deprecation ?? {};
  const pages = [...new Set([link, deprecation?.link])].filter((page) => page !== undefined);
  const message = [
    `This part of the interface is switched off for a while, until ${until}, because it will go.`,
    ...(successor === undefined ? [] : [`Use ${successor} instead.`]),
    ...(pages.length === 0 ? [] : [`See ${pages.join(" and ")}`]),
  ].join(" ");
  const end = sunset === undefined ? "" : `; it ends for good on ${sunset}`;
  const additional = `A planned brown-out of ${below}, from ${from} until ${until}${end}`;
  const seconds = String(Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1000)));
  return {
    status,
    headers: [
      "Cache-Control",
      "no-store",
      ...(status === 503 ? ["Retry-After", seconds] : []),
      ...(deprecation === undefined ? [] : deprecationHeaders(deprecation)),
      ...(link === undefined || link === deprecation?.link ? [] : ["Link", deprecationLink(link)]),
    ],
    ...formatted(
      codes[status],
      message,
      additional,
      path === undefined ? "text" : isBelow(path, jsonPath) ? "json" : "xml",
    ),
  };
};

const formatted = (
  code: string,
  message: string,
  additional: string,
  format: "text" | "json" | "xml",
): Pick<OwnAnswer, "type" | "body"> => {
  if (format === "text") return { type: "text/plain; charset=utf-8", body: `${message}\n${additional}\n` };
  if (format === "json")
    return {
      type: "application/json; charset=utf-8",
      body: JSON.stringify({ error: { code, message, additional_information: additional } }),
    };
  return {
    type: "text/xml; charset=utf-8",
    body: `<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>${code}</oml:code>\n\t<oml:message>${escaped(message)}</oml:message>\n\t\t<oml:additional_information>${escaped(additional)}</oml:additional_information>\n\t</oml:error>\n`,
  };
};

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
