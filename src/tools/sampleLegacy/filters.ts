import type { SampleError } from "./errors.ts";

/** The given filters of a list; a repeated one has its last value. */
export type ListFilters = Partial<Record<string, string>>;

/** One of legacy's lists: its filters, those of digits only, and its errors. */
export type FilterRules = {
  legal: readonly string[];
  digits: ReadonlySet<string>;
  errors: Record<"illegal" | "unsafe" | "offset", SampleError["error"]>;
};

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
export const readFilters = (
  segments: string[],
  { legal, digits, errors }: FilterRules,
): { filters: ListFilters } | SampleError => {
  const pairs = segments.flatMap((name, i): [string, string][] =>
    i % 2 === 0 && i + 1 < segments.length ? [[name, decode(segments[i + 1] ?? "")]] : [],
  );
  const unknown = pairs.map(([name]) => name).filter((name) => !legal.includes(name));
  if (unknown.length > 0) {
    const about = `Legal filter operators: ${legal.join()}. Found illegal filter(s): ${unknown.join(", ")}`;
    return { error: errors.illegal, about };
  }
  const given = Object.entries(Object.fromEntries(pairs));
  const isSafe = ([name, value]: [string, string]): boolean => (digits.has(name) ? /^\d+(,\d+)*$/ : safe).test(value);
  const unsafe = given.filter((pair) => !isSafe(pair)).map(([name]) => name);
  if (unsafe.length > 0) return { error: errors.unsafe, about: `Filters with illegal values: ${unsafe.join()}` };

  const filters: ListFilters = Object.fromEntries(given);
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

/** MariaDB reads a number off the front of `64,2`. */
export const firstNumber = (list: string): number => Number.parseInt(list, 10);

/** Whether a filter of comma-separated ids, if it is given, has this one. */
export const isAmong = (ids: string | undefined, id: number): boolean =>
  ids === undefined || ids.split(",").some((one) => Number(one) === id);
