import type { Report, Summary } from "../../../compare/report.ts";
import { counted, formatNumber } from "../../../ui/wording.ts";

/** The whole comparison in one line. */
export const formatSummary = ({ compared, unexplained, failed }: Summary): string => {
  const said =
    compared === 0
      ? "Nothing was compared"
      : unexplained === 0
        ? `Nothing unexplained in ${counted(compared, "answer")}`
        : `${formatNumber(unexplained)} of ${counted(compared, "answer")} ${unexplained === 1 ? "differs" : "differ"} without a reason`;
  return failed === 0 ? said : `${said}; ${formatNumber(failed)} could not be compared`;
};

/** What was held against what. */
export const formatSides = ({ sides }: Report): string =>
  sides.candidate === undefined
    ? `legacy ${sides.legacy} and the new interface's rules`
    : `legacy ${sides.legacy} and candidate ${sides.candidate}`;
