import { isBelow } from "../../http/requestTarget.ts";
import type { OwnAnswer } from "../../proxy/refuse.ts";
import { deprecationHeaders } from "./deprecationHeaders.ts";
import { deprecationLink } from "./links.ts";
import type { Brownout, Deprecation } from "./schemas.ts";

/** Numbers, as clients expect, and above all of legacy's own codes. */
const codes = { 410: "9410", 503: "9503" };

/** The answer during a brown-out, in the error format of the requested path. `legacyPath` has no slash at its end. */
export const brownoutAnswer = (
  brownout: Brownout,
  deprecation: Deprecation | undefined,
  { path, legacyPath, now }: { path: string; legacyPath: string; now: number },
): OwnAnswer => {
  const { status, until, link } = brownout;
  const error = describeBrownout(brownout, deprecation);
  const { type, body } = formed(codes[status], error, path, legacyPath);
  const headers = ["Cache-Control", "no-store"];
  if (status === 503) headers.push("Retry-After", String(Math.max(1, Math.ceil((Date.parse(until) - now) / 1000))));
  if (deprecation !== undefined) headers.push(...deprecationHeaders(deprecation));
  if (link !== undefined && link !== deprecation?.link) headers.push("Link", deprecationLink(link));
  return { status, type, headers, body };
};

type BrownoutMessage = { message: string; additional: string };

const describeBrownout = (
  { path, from, until, link }: Brownout,
  deprecation: Deprecation | undefined,
): BrownoutMessage => {
  const pages = [...new Set([link, deprecation?.link])].filter((page) => page !== undefined);
  const { successor, sunset } = deprecation ?? {};
  return {
    message: [
      `This part of the interface is switched off for a while, until ${until}, because it will go.`,
      ...(successor === undefined ? [] : [`Use ${successor} instead.`]),
      ...(pages.length === 0 ? [] : [`See ${pages.join(" and ")}`]),
    ].join(" "),
    additional: `A planned brown-out of ${path}, from ${from} until ${until}${sunset === undefined ? "" : `; it ends for good on ${sunset}`}`,
  };
};

const formed = (
  code: string,
  { message, additional }: BrownoutMessage,
  path: string,
  legacyPath: string,
): { type: string; body: string } => {
  if (!isBelow(path, legacyPath)) return { type: "text/plain; charset=utf-8", body: `${message}\n${additional}\n` };
  if (isBelow(path, `${legacyPath}/json`))
    return {
      type: "application/json; charset=utf-8",
      body: JSON.stringify({ error: { code, message, additional_information: additional } }),
    };
  // Legacy answers in XML if the path names no format.
  return {
    type: "text/xml; charset=utf-8",
    body: `<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>${code}</oml:code>\n\t<oml:message>${escaped(message)}</oml:message>\n\t\t<oml:additional_information>${escaped(additional)}</oml:additional_information>\n\t</oml:error>\n`,
  };
};

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
