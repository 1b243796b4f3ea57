import type { Call } from "./call.ts";
import type { TagRow } from "./catalogueRows.ts";
import type { SampleError } from "./errors.ts";
import { isSameText } from "./textQuirks.ts";

/** The given filters of a list; a repeated one has its last value. */
export type ListFilters = Partial<Record<string, string>>;

/** One filter of a list: whether it takes digits only, and the rows that fit. Without `fits` it chooses none. */
export type ListFilter<Row> = { digits?: true; fits?: (row: Row, value: string, call: Call) => boolean };

/** A filter of comma-separated ids. */
export const among = <Row>(read: (row: Row) => number): ListFilter<Row> => ({
  digits: true,
  fits: (row, ids) => ids.split(",").some((one) => Number(one) === read(row)),
});

/** A filter of one number, which MariaDB reads off the front of `64,2`. */
export const firstOf = <Row>(read: (row: Row) => number | undefined): ListFilter<Row> => ({
  digits: true,
  fits: (row, list) => Number.parseInt(list, 10) === read(row),
});

/** A filter of one tag. */
export const withTag = <Row>(read: (row: Row) => TagRow[] | undefined): ListFilter<Row> => ({
  fits: (row, tag) => (read(row) ?? []).some(([known]) => isSameText(known, tag)),
});

/** The filter of a state, where a list shows active rows unless it is given. */
export const status: ListFilter<{ status: string }> = {
  fits: (row, wanted) => isSameText(wanted, "all") || isSameText(wanted, row.status),
};

/** `limit` and `offset`, as every list has them. */
export const paging = { limit: { digits: true }, offset: { digits: true } } satisfies Record<string, ListFilter<never>>;

// The range from comma to underscore is legacy's own slip of the pen: it lets : ; < = > @ [ \ ] ^ through.
const safe = /^[a-zA-Z0-9\s.,-_()]+$/;

const decode = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return "\ufffd";
  }
};

/** Reads `name/value/name/value`; a last name without a value is ignored. */
export const readFilters = <Row>(
  segments: string[],
  legal: Record<string, ListFilter<Row>>,
  errors: Record<"illegal" | "unsafe" | "offset", number>,
): { filters: ListFilters } | SampleError => {
  const pairs = segments.flatMap((name, i): [string, string][] =>
    i % 2 === 0 && i + 1 < segments.length ? [[name, decode(segments[i + 1] ?? "")]] : [],
  );
  const unknown = pairs.map(([name]) => name).filter((name) => !Object.hasOwn(legal, name));
  if (unknown.length > 0) {
    const about = `Legal filter operators: ${Object.keys(legal).join()}. Found illegal filter(s): ${unknown.join(", ")}`;
    return { error: errors.illegal, about };
  }
  const filters: ListFilters = Object.fromEntries(pairs);
  const unsafe = Object.entries(filters)
    .filter(([name, value = ""]) => !(legal[name]?.digits ? /^\d+(,\d+)*$/ : safe).test(value))
    .map(([name]) => name);
  if (unsafe.length > 0) return { error: errors.unsafe, about: `Filters with illegal values: ${unsafe.join()}` };
  // PHP takes "0" for empty: offset/0 needs no limit, and limit/0 counts as no limit.
  if (Number(filters["offset"] ?? 0) !== 0 && Number(filters["limit"] ?? 0) === 0) return { error: errors.offset };
  return { filters };
};

/** SQL's LIMIT, where `limit/1,2` means an offset of 1. */
export const pageOf = <Row>(rows: Row[], { limit, offset = "0" }: ListFilters): Row[] => {
  if (limit === undefined) return rows;
  const [start, count] = limit.includes(",") ? limit.split(",").map(Number) : [Number(offset), Number(limit)];
  return rows.slice(start, (start ?? 0) + (count ?? 0));
};
