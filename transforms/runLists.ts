import { collection, entity, type Outcome } from "../src/catalogue/index.ts";
import { idList, tagFilter } from "./filters.ts";
import { legacyError } from "./legacyErrors.ts";

/** The filters that the lists of runs and of evaluations share, in the order of legacy's path. */
export const runFilters = {
  task: idList,
  setup: idList,
  flow: idList,
  uploader: idList,
  run: idList,
  tag: tagFilter,
};

/** The groups of a list of runs or evaluations. */
export const runGroups = ({ study }: { study?: number | undefined }): string[] => [
  collection("run"),
  ...(study === undefined ? [] : entity("study", study)),
];

/**
 * Refuses an input without any of these filters, with legacy's code: there are too many runs and evaluations to list
 * them all. `route`: the route of the list. `list`: the segments of legacy's path before its filters.
 */
export const requireFilter = (code: number, filters: readonly string[], route: string, list: readonly string[]) => {
  const unfiltered: Outcome = {
    ...legacyError(code),
    additional: `Give at least one of ${filters.join(", ")}, in the JSON body of ${route} or in the path: /${list.join("/")}/task/1.`,
  };
  return (input: Record<string, unknown>): Outcome | undefined =>
    filters.every((filter) => input[filter] === undefined) ? unfiltered : undefined;
};
