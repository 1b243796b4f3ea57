import type { ReportedDifference } from "../report.ts";
import { cutText } from "./wording.ts";

export type ShownValue = { side: "legacy" | "expected" | "candidate"; text: string };

/** The values of a difference as JSON, cut; a side that has nothing there is left out. */
export const shownValues = (difference: ReportedDifference, most: number): ShownValue[] =>
  (["legacy", "expected", "candidate"] as const).flatMap((side) => {
    const value = difference[side];
    return value === undefined ? [] : [{ side, text: cutText(JSON.stringify(value), most) }];
  });

/** A path as it is read: `""` is the whole answer. */
export const shownPath = (path: string): string => (path === "" ? "the whole answer" : path);

/** What a difference goes back to: its rule or its ledger entry. */
export const reasonsOf = ({ rule, entry }: Pick<ReportedDifference, "rule" | "entry">): string[] =>
  [entry, rule].filter((reason) => reason !== undefined);
