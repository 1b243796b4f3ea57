import { collection, integer, nullable, object, text, verbatim } from "../src/catalogue/index.ts";
import { idFilter, listBy, page, tagFilter } from "./filters.ts";
import { legacyError } from "./legacyErrors.ts";
import { pagedList } from "./pagedList.ts";

export const listFlows = pagedList("POST /flows/list", {
  summary: "The flows that match every filter.",
  also: ["GET /flows/list", "GET /flow/list/{...filters}"],
  input: { uploader: idFilter, tag: tagFilter, ...page() },
  legacy: (filters) => listBy(["flow", "list"], filters),
  notFound: legacyError(500),

  wrappers: ["flows", "flow"],
  row: object({
    id: integer,
    full_name: nullable(verbatim(text)),
    name: nullable(verbatim(text)),
    version: nullable(integer),
    external_version: nullable(verbatim(text)),
    uploader: nullable(integer),
  }),

  legacyForm: {
    elements: "flows{flow*{#id full_name name #version external_version #uploader}}",
    isTemplate: true,
    page: 10_000,
  },
  groups: () => [collection("flow")],
  examples: { firstFive: { limit: 5 }, byTag: { tag: "trees" }, none: { tag: "no-such-tag" } },
  exampleAnswer: [
    {
      id: 101,
      full_name: "sample.ZeroRule(1)",
      name: "sample.ZeroRule",
      version: 1,
      external_version: "Sample_1.0",
      uploader: 1,
    },
  ],
});
