import { counted, formatNumber } from "../../libraries/ui/wording.ts";
import type { StageName } from "./stage.ts";
import type { Parity } from "./views.ts";

/** What speaks against a step towards modern, as a clause; `undefined` if all that was compared is explained. */
export const objectionTo = (isWrite: boolean, stage: StageName, parity: Parity): string | undefined => {
  if (isWrite) return "writes are never compared";
  const { compared, drift, unexplained } = parity;
  const conclusive = compared - drift;
  if (conclusive === 0)
    return stage === "legacy" ? "nothing has been compared (put it in shadow first)" : "nothing has been compared yet";
  if (unexplained === 0) return undefined;
  const differ = unexplained === 1 ? "differs" : "differ";
  return `${formatNumber(unexplained)} of ${counted(conclusive, "compared request")} ${differ} without a reason (fix modern, or allow the differences in the ledger)`;
};
