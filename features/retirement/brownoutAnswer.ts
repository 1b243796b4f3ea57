import { gatewayError, type GatewayErrorFormat, writeLegacyError } from "../../src/catalogue/index.ts";
import type { OwnAnswer } from "../../src/gateway/index.ts";
import { deprecationHeaders, deprecationLink } from "./deprecationHeaders.ts";
import type { Brownout, Deprecation } from "./settings.ts";

/** The answer during a brown-out. `format`: that of the request's errors; `undefined`: text. */
export const brownoutAnswer = (
  { path: below, from, until, status, link }: Brownout,
  deprecation: Deprecation | undefined,
  format: GatewayErrorFormat | undefined,
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
    ...(format === undefined
      ? { type: "text/plain; charset=utf-8", body: `${message}\n${additional}\n` }
      : writeLegacyError(format, { ...gatewayError(status, message, false), additional })),
  };
};
