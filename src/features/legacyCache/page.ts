import type { PagePart } from "../../libraries/ui/consolePart.ts";
import { formatNumber, percent, timeOfDay } from "../../libraries/ui/wording.ts";
import type { ReadsView } from "./readCounts.ts";

/** The reads of old clients, as one number of the overview. */
export const readsPage = (view: () => ReadsView): PagePart => ({
  show(now) {
    const { requests, hits, outage } = view();
    const stale = outage && `; ${formatNumber(outage.stale)} stale since ${timeOfDay(outage.since, now)}`;
    const about = `${percent(hits / requests)} hits${stale ?? ""}`;
    return {
      sections: [],
      numbers: [{ order: 43, name: "reads of old clients", value: formatNumber(requests), about }],
    };
  },
});
