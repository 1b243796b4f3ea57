import { endpoint } from "../src/endpoint/endpoint.ts";
import { optionalField } from "../src/endpoint/field.ts";
import { collection } from "../src/endpoint/groups.ts";
import { list, nullable, object, unwrapped } from "../src/rules/compose.ts";
import { integer, markup, text, timestamp } from "../src/rules/values.ts";
import { datasetStatus, idFilter, listBy, page, pageGroups } from "./filters.ts";
import { noStudies } from "./outcomes.ts";
import { studyEntity } from "./studies.ts";

export const listStudies = endpoint("POST /studies/list", {
  summary: "The studies that match every filter.",
  also: ["GET /studies/list", "GET /study/list/{...filters}"],
  input: {
    main_entity_type: optionalField(studyEntity),
    uploader: idFilter,
    // Legacy's own default is "active".
    status: optionalField(datasetStatus),
    benchmark_suite: idFilter,
    ...page(),
  },
  groups: pageGroups,
  legacy: (filters) => listBy(["study", "list"], filters),
  notFound: noStudies,

  output: unwrapped(
    "study_list",
    unwrapped(
      "study",
      list(
        object({
          id: integer,
          alias: nullable(text),
          main_entity_type: nullable(text),
          benchmark_suite: nullable(integer),
          name: nullable(markup),
          status: nullable(text),
          creation_date: nullable(timestamp),
          creator: nullable(integer),
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
    groups: () => [collection("study")],
  },
  examples: { firstFive: { limit: 5 }, ofRuns: { main_entity_type: "run" }, none: { uploader: 999_999 } },
  exampleAnswer: [
    {
      id: 99,
      alias: "sample-suite",
      main_entity_type: "task",
      benchmark_suite: null,
      name: "Sample suite",
      status: "active",
      creation_date: "2021-02-03T04:05:06",
      creator: 1,
    },
  ],
});
