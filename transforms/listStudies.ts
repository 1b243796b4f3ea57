import {
  collection,
  integer,
  markup,
  nullable,
  object,
  optionalField,
  text,
  timestamp,
} from "../src/catalogue/index.ts";
import { datasetStatus, idFilter, listBy, page } from "./filters.ts";
import { legacyError } from "./legacyErrors.ts";
import { pagedList } from "./pagedList.ts";
import { studyEntity } from "./studies.ts";

export const listStudies = pagedList("POST /studies/list", {
  summary: "The studies that match every filter.",
  also: ["GET /studies/list", "GET /study/list/{...filters}"],
  input: {
    main_entity_type: optionalField(studyEntity),
    uploader: idFilter,
    // The default of legacy is "active".
    status: optionalField(datasetStatus),
    benchmark_suite: idFilter,
    ...page(),
  },
  legacy: (filters) => listBy(["study", "list"], filters),
  notFound: legacyError(599),

  // A study's name is free text, which legacy escapes in JSON only.
  texts: {
    members: ["id", "main_entity_type", "name", "status", "creation_date", "creator"],
    text: "name",
    isEscapedInJson: true,
  },

  wrappers: ["study_list", "study"],
  row: object({
    id: integer,
    alias: nullable(text),
    main_entity_type: nullable(text),
    benchmark_suite: nullable(integer),
    name: nullable(markup),
    status: nullable(text),
    creation_date: nullable(timestamp),
    creator: nullable(integer),
  }),

  legacyForm: {
    elements: "study_list{study*{id alias? main_entity_type benchmark_suite? name status creation_date creator}}",
    page: 10_000,
  },
  groups: () => [collection("study")],
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
