import { membership } from "./studies.ts";

export const attachToStudy = membership("POST /studies/attach", {
  summary: "Adds tasks or runs to a study.",
  action: "attach",
});
