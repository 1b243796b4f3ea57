import type { OwnError } from "../../src/gateway/index.ts";
import { deprecationHeaders, deprecationLink } from "./deprecationHeaders.ts";
import type { Brownout, Deprecation } from "./settings.ts";

/** The answer to a client during a brown-out, or for a path that is gone for good. */
export const brownoutAnswer = (
  { path: below, from, until, status, link }: Brownout,
  deprecation: Deprecation | undefined,
): OwnError => {
  const { successor, sunset } = deprecation ?? {};
  const pages = [...new Set([link, deprecation?.link])].filter((page) => page !== undefined);
  const detail = [
    until === undefined
      ? "This part of the interface is gone for good."
      : `This part of the interface is switched off for a while, until ${until}, because it will go.`,
    ...(successor === undefined ? [] : [`Use ${successor} instead.`]),
    ...(pages.length === 0 ? [] : [`See ${pages.join(" and ")}`]),
  ].join(" ");
  const end = sunset === undefined ? "" : `; it ends for good on ${sunset}`;
  const additional =
    until === undefined
      ? `${below} has been gone since ${from}`
      : `A planned brown-out of ${below}, from ${from} until ${until}${end}`;
  const retryAfter =
    status === 503 && until !== undefined ? Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1000)) : undefined;
  return {
    status,
    detail,
    additional,
    mayRepeat: "never",
    ...(retryAfter === undefined ? {} : { retryAfter }),
    headers: [
      ...(deprecation === undefined ? [] : deprecationHeaders(deprecation)),
      ...(link === undefined || link === deprecation?.link ? [] : ["Link", deprecationLink(link)]),
    ],
  };
};
