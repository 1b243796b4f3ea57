import type { RowFilters, RowTest } from "../../src/catalogue/index.ts";

/** Tests for a list's input if legacy lists a row to its owner. A field without a filter may leave out any row. */
export const rowMatcher = (filters: RowFilters, input: Record<string, unknown>): RowTest => {
  const isKnown = Object.keys(input).every((name) => input[name] === undefined || Object.hasOwn(filters, name));
  const tests = Object.entries(filters).flatMap(([name, filter]) => {
    const asked = input[name];
    return asked === undefined || asked === null ? [] : [filter(asked)];
  });
  return (row) => {
    let isSure = isKnown;
    for (const test of tests) {
      const passes = test(row);
      if (passes === false) return false;
      isSure &&= passes === true;
    }
    return isSure || undefined;
  };
};
