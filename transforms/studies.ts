import {
  changed,
  endpoint,
  identifier,
  identifierList,
  integer,
  object,
  oneOf,
  type Outcome,
  post,
  renamed,
  text,
  unwrapped,
} from "../src/catalogue/index.ts";
import { legacyStudies } from "./getStudy.ts";
import { legacyError } from "./legacyErrors.ts";
import { legacyStudy } from "./outcomes.ts";

/** The kinds of entities that a study can collect. */
export const studyEntity = oneOf(["task", "run"]);

/** The most tasks or runs that a request adds to a study, or removes from it. */
export const MAX_MEMBERS = 10_000;

/** Refuses writes to a study that was defined by tags only. */
const rejectLegacyStudy = ({ study_id }: { study_id: number }): Outcome | undefined =>
  legacyStudies.has(study_id) ? legacyStudy : undefined;

/** Defines an endpoint that adds tasks or runs to a study, or removes them. */
const membership = (action: "attach" | "detach", summary: string) =>
  endpoint(`POST /studies/${action}`, {
    summary,
    input: { study_id: identifier, entity_ids: identifierList(1, MAX_MEMBERS) },
    writes: ({ study_id }) => changed("study", [study_id]),
    // Legacy lets every key change every study, and never says who a caller is. It shows a private study only to its
    // creator, so a caller must be able to read it. The creator of a public study cannot be told from other callers.
    access: { endpoint: "getStudy", input: ({ study_id }) => ({ id_or_alias: study_id }) },
    legacy: ({ study_id, entity_ids }) =>
      post(`/study/${study_id}/${action}`, { ids: [...new Set(entity_ids)].join(",") }),
    notFound: legacyError(1041),
    echoes: { study_id: ["study_id"] },
    rejectEarly: rejectLegacyStudy,
    errors: { 1042: legacyStudy },
    modern: {
      problems: {
        "study-not-found": legacyError(1041),
        "study-legacy": legacyStudy,
        "study-private": legacyError(112),
      },
    },
    output: unwrapped(
      `study_${action}`,
      object({ study_id: renamed("id", integer), main_entity_type: text, linked_entities: integer }),
    ),
    examples: { one: { study_id: 101, entity_ids: [1] } },
    exampleAnswer: { study_id: 101, main_entity_type: "task", linked_entities: 1 },
  });

export const attachToStudy = membership("attach", "Adds tasks or runs to a study.");

export const detachFromStudy = membership("detach", "Takes tasks or runs out of a study.");

export const updateStudyStatus = endpoint("POST /studies/status/update", {
  summary: "Activates or deactivates a study of the caller's own.",
  // Legacy never lets a study return to preparation.
  input: { study_id: identifier, status: oneOf(["active", "deactivated"]) },
  writes: ({ study_id }) => changed("study", [study_id]),
  legacy: ({ study_id, status }) => post("/study/status/update", { study_id, status }),
  notFound: legacyError(1052),
  echoes: { study_id: ["study_id"] },
  rejectEarly: rejectLegacyStudy,
  modern: {
    problems: { "study-not-found": legacyError(1052), "study-legacy": legacyStudy, "study-private": legacyError(112) },
  },
  output: unwrapped("study_status_update", object({ study_id: renamed("id", integer), status: text })),
  examples: { activate: { study_id: 101, status: "active" } },
  exampleAnswer: { study_id: 101, status: "active" },
});
