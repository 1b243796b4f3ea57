import { causeOf } from "../../../libraries/compare/difference.ts";
import type { Report, ReportedDifference, Summary } from "./report.ts";
import type { Json } from "../../../src/catalogue/index.ts";
import { truncate } from "../../../src/operation/index.ts";
import { counted, formatNumber } from "../../../libraries/ui/wording.ts";

/** The values of a difference as JSON of at most `most` characters; a side without a value is left out. */
export const formatValues = (difference: ReportedDifference, most: number): { side: string; text: string }[] =>
  (["legacy", "expected", "candidate"] as const).flatMap((side) => {
    const value = difference[side];
    return value === undefined ? [] : [{ side, text: truncate(jsonOf(value), most) }];
  });

/** A value as JSON. A truncated object or list is already a text, the beginning of its JSON. */
const jsonOf = (value: Json): string =>
  typeof value === "string" && /^[[{].*…$/s.test(value) ? value : JSON.stringify(value);

/** The reasons of a difference: its cause, its entry of the ledger, its rule. */
export const reasonsOf = (difference: ReportedDifference): string[] => [
  ...new Set([causeOf(difference), difference.entry, difference.rule].filter((reason) => reason !== undefined)),
];

/** The whole comparison in a line. */
export const formatSummary = ({ compared, unexplained, unreadable, failed }: Summary): string => {
  const said =
    compared === 0
      ? "Nothing was compared"
      : unexplained === 0
        ? `Nothing unexplained in ${counted(compared, "answer")}`
        : `${formatNumber(unexplained)} of ${counted(compared, "answer")} ${unexplained === 1 ? "differs" : "differ"} without a reason`;
  return [
    said,
    ...(unreadable === 0 ? [] : [`${formatNumber(unreadable)} unreadable`]),
    ...(failed === 0 ? [] : [`${formatNumber(failed)} could not be compared`]),
  ].join("; ");
};

/** The two compared sides. */
export const formatSides = ({ sides }: Report): string =>
  sides.candidate === undefined
    ? `legacy ${sides.legacy} and the new interface's rules`
    : `legacy ${sides.legacy} and candidate ${sides.candidate}`;
