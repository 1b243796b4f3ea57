import { endpoint } from "../src/endpoint/endpoint.ts";
import { collection } from "../src/endpoint/groups.ts";
import { entriesOf, list, member, nullable, object, unwrapped } from "../src/rules/compose.ts";
import { integer, text, verbatim } from "../src/rules/values.ts";
import { idFilter, listBy, page, pageGroups, tagFilter } from "./filters.ts";
import { noFlows } from "./outcomes.ts";

export const listFlows = endpoint("POST /flows/list", {
  summary: "The flows that match every filter.",
  also: ["GET /flows/list", "GET /flow/list/{...filters}"],
  input: { uploader: idFilter, tag: tagFilter, ...page() },
  groups: pageGroups,
  legacy: (filters) => listBy(["flow", "list"], filters),
  notFound: noFlows,

  // Legacy does not escape its texts. No filter asks for single flows, so a page that neither form shows stays unread: most are read in XML.
  rows: {
    begins: /"id":\s*(\d{1,10})\s*,\s*"full_name":\s*"|<oml:id>\s*(\d{1,10})\s*<\/oml:id>\s*<oml:full_name>/g,
    behind: /^(?:"\s*,\s*"name"|<\/oml:full_name>\s*<oml:name>)/,
    ends: /\]\s*\}\s*\}\s*$|<\/oml:flows>\s*$/,
    most: 1,
    among: () => undefined,
    id: "id",
    text: "full_name",
    entriesIn: (legacy) => entriesOf(member(legacy, "flows", "flow")),
    members: ["id", "full_name", "name", "version", "external_version", "uploader"],
    mayLack: { json: [], xml: [] },
  },

  output: unwrapped(
    "flows",
    unwrapped(
      "flow",
      list(
        object({
          id: integer,
          full_name: nullable(verbatim(text)),
          name: nullable(verbatim(text)),
          version: nullable(integer),
          external_version: nullable(verbatim(text)),
          uploader: nullable(integer),
        }),
      ),
    ),
  ),

  cache: {
    fresh: "1m",
    staleWhileRevalidate: "1h",
    staleIfError: "1h",
    mayTurnPrivate: true,
    // Owners see their private rows.
    personal: true,
    groups: () => [collection("flow")],
  },
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
