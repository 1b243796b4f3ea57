import type { PagePart } from "../../../ui/consolePart.ts";
import { formatNumber } from "../../../ui/wording.ts";

/** The number of refused requests, in the overview. */
export const rateLimitPage = (refused: () => number): PagePart => ({
  show: () => ({ sections: [], numbers: [{ order: 50, name: "over the rate limit", value: formatNumber(refused()) }] }),
});
