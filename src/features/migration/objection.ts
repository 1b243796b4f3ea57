import { counted, formatNumber, percent } from "../../ui/wording.ts";
import type { Parity } from "./views.ts";

/** What speaks against a step towards modern, as a clause; `undefined` if all that was compared is explained. */
export const objectionTo = (isWrite: boolean, { compared, drift, unexplained, lower }: Parity): string | undefined => {
  if (isWrite) return "writes are never compared";
  const judged = compared - drift;
  if (judged === 0) return "nothing has been compared";
  if (unexplained === 0) return undefined;
  const parity = `parity ${percent(1 - unexplained / judged)}, at least ${percent(lower)}`;
  return `${formatNumber(unexplained)} of ${counted(judged, "compared request")} unexplained (${parity})`;
};
