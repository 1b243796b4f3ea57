import { tagging } from "./tagging.ts";

export const untagRun = tagging("POST /runs/untag", {
  summary: "Removes a tag from a run.",
  of: "run",
  action: "untag",
});
