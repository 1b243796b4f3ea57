import { tagging } from "./tagging.ts";

export const tagRun = tagging("POST /runs/tag", {
  summary: "Adds a tag to a run.",
  of: "run",
  action: "tag",
});
