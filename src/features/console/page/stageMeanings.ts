import type { StageName } from "../../migration/stage.ts";

/** What each stage does, and what its share is a share of; the script reads them from the dialog. */
export const stageMeanings: Record<StageName, { does: string; share: string; will: string }> = {
  legacy: {
    does: "Legacy answers alone; modern is not asked.",
    share: "",
    will: "Every caller of {endpoint} will be answered by legacy; modern will not be asked.",
  },
  shadow: {
    does: "Legacy answers; modern is asked the same and compared.",
    share: "of the requests are mirrored to modern and compared",
    will: "Every caller of {endpoint} will be answered by legacy; {share} % of the requests will be mirrored to modern and compared.",
  },
  canary: {
    does: "Modern answers a share of the callers, legacy the others.",
    share: "of the callers are answered by modern",
    will: "{share} % of the callers of {endpoint} will be answered by modern, the others by legacy.",
  },
  modern: {
    does: "Modern answers; legacy is asked the same and compared.",
    share: "of the requests are mirrored to legacy and compared",
    will: "Every caller of {endpoint} will be answered by modern; {share} % of the requests will be mirrored to legacy and compared.",
  },
};
