import { expect, test } from "vitest";
import { facetsOf } from "../../../src/catalogue/reading/facets.ts";
import type { Endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import type { Rule } from "../../../src/catalogue/rules/rule.ts";
import { endpoints } from "../../../transforms/index.ts";

/** The lists of answers whose order means nothing, by endpoint. That of every other list does. */
const unordered: Record<string, string[]> = {
  getDataset: ["/tag"],
  getDatasetQualities: [""],
  listDatasetTags: [""],
  listSetupTags: [""],
  listFlowTags: [""],
  listTaskTags: [""],
  listRunTags: [""],
  tagDataset: ["/data_tag/tag"],
  untagDataset: ["/data_untag/tag"],
  tagSetup: ["/setup_tag/tag"],
  untagSetup: ["/setup_untag/tag"],
  tagFlow: ["/flow_tag/tag"],
  untagFlow: ["/flow_untag/tag"],
  tagTask: ["/task_tag/tag"],
  untagTask: ["/task_untag/tag"],
  tagRun: ["/run_tag/tag"],
  untagRun: ["/run_untag/tag"],
  getStudy: ["/data_ids", "/task_ids", "/flow_ids", "/setup_ids", "/run_ids"],
  getFlow: ["/tag", "/subflows/*/flow/tag"],
  getTask: ["/tags"],
  listTasks: ["/*/tags"],
  getRun: ["/tag"],
};

/** The pointers of the lists without an order, in flows as deep as one in another. */
const unorderedIn = (rule: Rule, at = ""): string[] => {
  const { anyOrder, entries, fields = {} } = facetsOf(rule);
  if (at.split("/flow").length > 2) return [];
  return [
    ...(anyOrder ? [at] : []),
    ...(entries ? unorderedIn(entries, `${at}/*`) : []),
    ...Object.entries(fields).flatMap(([name, field]) => unorderedIn(field, `${at}/${name}`)),
  ];
};

test.each(Object.entries(endpoints))(
  "%s: the lists without an order are those that are known",
  (name, endpoint: Endpoint) => {
    expect(unorderedIn(endpoint.output).toSorted()).toEqual((unordered[name] ?? []).toSorted());
  },
);
