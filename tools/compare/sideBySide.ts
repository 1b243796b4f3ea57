import { type Json, type JsonObject, pointerSteps, type Rule } from "../../src/catalogue/index.ts";
import { truncate } from "../../src/operation/index.ts";
import { differ } from "../../libraries/compare/differ.ts";
import type { Difference } from "../../libraries/compare/difference.ts";
import { changesIn, explain } from "../../libraries/compare/explain.ts";
import type { Row } from "./report/report.ts";

type Placed = Row & { at: string };

/**
 * The first entries of a list, which are always shown. Others are shown only with a difference that is not explained.
 */
const MAX_ENTRIES = 3;
const MAX_ROWS = 400;

/** Legacy's document beside ours, with the rules that made each difference. */
export const explainedRows = (output: Rule, legacy: JsonObject, ours: Json | undefined): Row[] => {
  const rows: Placed[] = [];
  explain(output, legacy, ours, changesIn(output, legacy), ({ at, steps, ...place }, isLeaf) => {
    const rules = steps.flatMap(({ rule }) => rule ?? []);
    rows.push({
      ...rowAt(at, place.legacy, place.ours, isLeaf),
      ...(steps.length > 0
        ? { form: steps.at(-1)?.form, kind: rules.length === steps.length ? "explained" : "unexplained" }
        : {}),
      ...(rules.length > 0 ? { rules } : {}),
    });
  });
  return withoutFarEntries(rows);
};

/** The expected document beside the candidate's, with the classification of each difference. */
export const comparedRows = (
  output: Rule | undefined,
  expected: Json | undefined,
  candidate: Json | undefined,
  differences: readonly Difference[],
): Row[] => {
  const rows: Placed[] = [];
  differ(output, expected, candidate, ({ at, path, form, allowedBy, ...place }, isLeaf) => {
    const known = form && differences.find((difference) => difference.path === path && difference.form === form);
    const rule = allowedBy ?? known?.rule;
    rows.push({
      ...rowAt(at, place.expected, place.candidate, isLeaf),
      ...(form ? { form, kind: known?.kind ?? (allowedBy === undefined ? "unexplained" : "explained") } : {}),
      ...(form && rule !== undefined ? { rules: [rule] } : {}),
    });
  });
  return withoutFarEntries(rows);
};

/** A row at a place. If both sides have members there, it shows no values: the rows of the members do. */
const rowAt = (at: string, left: Json | undefined, right: Json | undefined, isLeaf: boolean): Placed => ({
  at,
  ...nameOf(at),
  ...(isLeaf || isEmpty(left) || isEmpty(right) ? sides(left, right) : {}),
});

const nameOf = (at: string): { depth: number; name: string } => {
  const steps = pointerSteps(at);
  return { depth: steps.length, name: steps.at(-1) ?? "" };
};

const sides = (left: Json | undefined, right: Json | undefined): { left?: string; right?: string } => ({
  ...(left === undefined ? {} : { left: formatValue(left) }),
  ...(right === undefined ? {} : { right: formatValue(right) }),
});

const isEmpty = (value: Json | undefined): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

const formatValue = (value: Json): string => truncate(JSON.stringify(value), 300);

/** Leaves out and counts the entries far down a list whose differences are all explained. */
const withoutFarEntries = (rows: Placed[]): Row[] => {
  const lists = listsIn(rows);
  const shownFar = new Set(
    rows.flatMap(({ at, kind }) =>
      kind === undefined || kind === "explained" ? [] : (farEntry(at, lists)?.entry ?? []),
    ),
  );
  const shown: Row[] = [];
  let omitting: { list: string; row: Row; entry: string } | undefined;
  for (const { at, ...row } of rows) {
    const far = farEntry(at, lists);
    if (far === undefined || shownFar.has(far.entry)) {
      omitting = undefined;
      shown.push(row);
    } else if (omitting?.list !== far.list) {
      const { depth } = nameOf(far.entry);
      omitting = { ...far, row: { depth, name: "", omitted: 1 } };
      shown.push(omitting.row);
    } else if (omitting.entry !== far.entry) {
      omitting.entry = far.entry;
      omitting.row.omitted = (omitting.row.omitted ?? 0) + 1;
    }
  }
  if (shown.length <= MAX_ROWS) return shown;
  return [...shown.slice(0, MAX_ROWS), { depth: 0, name: "", omitted: shown.length - MAX_ROWS }];
};

/** The pointers of lists. */
const listsIn = (rows: readonly Placed[]): ReadonlySet<string> =>
  new Set(rows.filter(({ name }) => name === "0").map(({ at }) => at.slice(0, -"/0".length)));

/** The outermost entry around a place that is too far down its list to be shown. */
const farEntry = (at: string, lists: ReadonlySet<string>): { list: string; entry: string } | undefined => {
  let list = "";
  for (const step of at.split("/").slice(1)) {
    const entry = `${list}/${step}`;
    if (lists.has(list) && Number(step) >= MAX_ENTRIES) return { list, entry };
    list = entry;
  }
  return undefined;
};

/** The only row of an error, or of another answer without a rule. */
export const plainRows = (
  left: Json | undefined,
  right: Json | undefined,
  differences: readonly Difference[],
): Row[] => {
  const rules = [...new Set(differences.flatMap(({ rule }) => rule ?? []))];
  const body = differences.find(({ path }) => path === "" || path.startsWith("/"));
  return [
    {
      depth: 0,
      name: "",
      ...sides(left, right),
      ...(body ? { form: body.form, kind: body.kind } : {}),
      ...(rules.length > 0 ? { rules } : {}),
    },
  ];
};
