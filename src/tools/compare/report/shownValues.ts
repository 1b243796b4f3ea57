import type { Json } from "../../../rules/rule.ts";
import { causeOf } from "../../../compare/causes.ts";
import type { ReportedDifference } from "../../../compare/report.ts";
import { truncate } from "../../../ui/wording.ts";

export type FormattedValue = { side: "legacy" | "expected" | "candidate"; text: string };

/** The values of a difference as JSON, cut; a side that has nothing there is left out. */
export const formatValues = (difference: ReportedDifference, most: number): FormattedValue[] =>
  (["legacy", "expected", "candidate"] as const).flatMap((side) => {
    const value = difference[side];
    return value === undefined ? [] : [{ side, text: truncate(jsonOf(value), most) }];
  });

/** A long object or list comes as the beginning of its JSON: it is no text, and needs no quotes. */
const jsonOf = (value: Json): string =>
  typeof value === "string" && /^[[{].*…$/s.test(value) ? value : JSON.stringify(value);

/** What a difference can be found by: its cause, its ledger entry, its rule. */
export const reasonsOf = (difference: ReportedDifference): string[] => [
  ...new Set([causeOf(difference), difference.entry, difference.rule].filter((reason) => reason !== undefined)),
];
