import { describe, expect, test } from "vitest";
import { differ } from "../../src/compare/differ.ts";
import type { Endpoint } from "../../src/endpoint/endpoint.ts";
import type { Json } from "../../src/rules/rule.ts";
import { endpoints } from "../../transforms/index.ts";

/** A document of each endpoint, with the pointers of its lists: the order of `free` ones does not count, that of the others matters. */
const orders: Record<string, { document: Json; free: string[]; matters: string[] }> = {
  getDataset: {
    document: { tag: ["a", "b"], creator: ["a", "b"], ignore_attribute: ["a", "b"], original_data_url: ["a", "b"] },
    free: ["/tag"],
    matters: ["/creator", "/ignore_attribute", "/original_data_url"],
  },
  listDatasets: { document: [{ did: 1 }, { did: 2 }], free: [], matters: [""] },
  getDatasetFeatures: {
    document: [{ index: 1, nominal_values: ["a", "b"], ontology: ["a", "b"] }, { index: 2 }],
    free: [],
    matters: ["", "/*/nominal_values", "/*/ontology"],
  },
  getDatasetQualities: { document: [{ name: "a" }, { name: "b" }], free: [""], matters: [] },
  listQualities: {
    document: { data_qualities_list: { quality: ["a", "b"] } },
    free: [],
    matters: ["/data_qualities_list/quality"],
  },
  listDatasetTags: { document: ["a", "b"], free: [""], matters: [] },
  listSetupTags: { document: ["a", "b"], free: [""], matters: [] },
  listFlowTags: { document: ["a", "b"], free: [""], matters: [] },
  listTaskTags: { document: ["a", "b"], free: [""], matters: [] },
  listStudies: { document: [{ id: 1 }, { id: 2 }], free: [], matters: [""] },
  tagDataset: { document: { data_tag: { id: 1, tag: ["a", "b"] } }, free: ["/data_tag/tag"], matters: [] },
  untagDataset: { document: { data_untag: { id: 1, tag: ["a", "b"] } }, free: ["/data_untag/tag"], matters: [] },
  tagSetup: { document: { setup_tag: { id: 1, tag: ["a", "b"] } }, free: ["/setup_tag/tag"], matters: [] },
  untagSetup: { document: { setup_untag: { id: 1, tag: ["a", "b"] } }, free: ["/setup_untag/tag"], matters: [] },
  getSetup: {
    document: { setup_parameters: { parameter: [{ id: 1 }, { id: 2 }] } },
    free: [],
    matters: ["/setup_parameters/parameter"],
  },
  getStudy: {
    document: { data_ids: [1, 2], task_ids: [1, 2], flow_ids: [1, 2], setup_ids: [1, 2], run_ids: [1, 2] },
    free: ["/data_ids", "/task_ids", "/flow_ids", "/setup_ids", "/run_ids"],
    matters: [],
  },
  getFlow: {
    document: { tag: ["a", "b"], subflows: [{ flow: { tag: ["a", "b"] } }], parameter: [{ name: "a" }, { name: "b" }] },
    free: ["/tag", "/subflows/*/flow/tag"],
    matters: ["/parameter"],
  },
  listFlows: { document: [{ id: 1 }, { id: 2 }], free: [], matters: [""] },
  tagFlow: { document: { flow_tag: { id: 1, tag: ["a", "b"] } }, free: ["/flow_tag/tag"], matters: [] },
  untagFlow: { document: { flow_untag: { id: 1, tag: ["a", "b"] } }, free: ["/flow_untag/tag"], matters: [] },
  getTask: {
    document: { tags: ["a", "b"], input: [{ name: "a" }, { name: "b" }] },
    free: ["/tags"],
    matters: ["/input"],
  },
  listTasks: { document: [{ tags: ["a", "b"], input: [1, 2] }], free: ["/*/tags"], matters: ["/*/input"] },
  tagTask: { document: { task_tag: { id: 1, tag: ["a", "b"] } }, free: ["/task_tag/tag"], matters: [] },
  untagTask: { document: { task_untag: { id: 1, tag: ["a", "b"] } }, free: ["/task_untag/tag"], matters: [] },
  getRun: {
    document: {
      tag: ["a", "b"],
      error: ["a", "b"],
      parameter_setting: [{ name: "a" }, { name: "b" }],
      output_data: { evaluation: [{ name: "a" }, { name: "b" }] },
    },
    free: ["/tag"],
    matters: ["/error", "/parameter_setting", "/output_data/evaluation"],
  },
  getRunTrace: { document: { trace: [{ fold: 0 }, { fold: 1 }] }, free: [], matters: ["/trace"] },
  listRuns: { document: [{ run_id: 1 }, { run_id: 2 }], free: [], matters: [""] },
  tagRun: { document: { run_tag: { id: 1, tag: ["a", "b"] } }, free: ["/run_tag/tag"], matters: [] },
  untagRun: { document: { run_untag: { id: 1, tag: ["a", "b"] } }, free: ["/run_untag/tag"], matters: [] },
  listSetups: { document: [{ parameter: [{ id: 1 }, { id: 2 }] }], free: [], matters: ["/*/parameter"] },
  listEvaluations: { document: [{ run_id: 1 }, { run_id: 2 }], free: [], matters: [""] },
  listEvaluationsWithSetups: {
    document: [{ parameters: [{ id: 1 }, { id: 2 }] }],
    free: [],
    matters: ["/*/parameters"],
  },
  listEstimationProcedures: { document: [{ id: 1 }, { id: 2 }], free: [], matters: [""] },
  listEvaluationMeasures: { document: ["a", "b"], free: [], matters: [""] },
};

const reversed = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(reversed).toReversed();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, reversed(member)]));
};

describe.each(Object.entries(orders))("%s", (name, { document, free, matters }) => {
  test("another order of its lists", () => {
    const { output } = (endpoints as Record<string, Endpoint>)[name] as Endpoint;
    const found: Record<"free" | "matters", string[]> = { free: [], matters: [] };
    differ(output, document, reversed(document), ({ path, form, allowedBy }) => {
      if (form === "order") found[allowedBy === undefined ? "matters" : "free"].push(path);
    });
    expect(found).toEqual({ free, matters });
  });
});
