import { endpoint } from "../src/endpoint/endpoint.ts";
import { identifier, oneOf } from "../src/endpoint/field.ts";
import { written } from "../src/endpoint/groups.ts";
import { post } from "../src/endpoint/legacyRequest.ts";
import { object, renamed, unwrapped } from "../src/rules/compose.ts";
import { integer, text } from "../src/rules/values.ts";
import { legacyStudy, noStudyToUpdate } from "./outcomes.ts";
import { rejectLegacyStudy } from "./studies.ts";

export const updateStudyStatus = endpoint("POST /studies/status/update", {
  summary: "Activates or deactivates a study of the caller's own.",
  // Legacy never lets a study be in preparation again.
  input: { study_id: identifier, status: oneOf(["active", "deactivated"]) },
  writes: ({ study_id }) => written("study", [study_id]),
  legacy: ({ study_id, status }) => post("/study/status/update", { study_id, status }),
  notFound: noStudyToUpdate,
  rejectEarly: rejectLegacyStudy,
  modern: { problems: { "study-not-found": noStudyToUpdate, "study-legacy": legacyStudy } },
  output: unwrapped("study_status_update", object({ study_id: renamed("id", integer), status: text })),
  examples: { activate: { study_id: 101, status: "active" } },
  exampleAnswer: { study_id: 101, status: "active" },
});
