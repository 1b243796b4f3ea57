import type { PagePart } from "../../libraries/ui/consolePart.ts";
import { formatNumber, percent, timeOfDay } from "../../libraries/ui/wording.ts";
import type { ReadsView } from "./readCounts.ts";

/**
 * The reads of old clients, as one number of the overview; while legacy is in trouble, how many the cache
 * answered and how many failed.
 */
export const readsPage = (view: () => ReadsView): PagePart => ({
  show(now) {
    const { requests, hits, trouble } = view();
    const about =
      trouble === undefined
        ? `${percent(hits / requests)} hits`
        : `since ${timeOfDay(trouble.since, now)}: ${formatNumber(trouble.cached)} from the cache, ${formatNumber(trouble.failed)} failed`;
    return {
      sections: [],
      numbers: [
        {
          order: 43,
          name: "reads of old clients",
          value: formatNumber(requests),
          about,
          isTrouble: (trouble?.failed ?? 0) > 0,
        },
      ],
    };
  },
});
