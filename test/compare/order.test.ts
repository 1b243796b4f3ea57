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
  listEstimationProcedures: { document: [{ id: 1 }, { id: 2 }], free: [], matters: [""] },
  listEvaluationMeasures: { document: ["a", "b"], free: [], matters: [""] },
};

const reversed = (value: Json): Json => {
  if (Array.isArray(value)) return value.toReversed();
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
