import { tagging } from "./tagging.ts";

export const untagTask = tagging("POST /tasks/untag", {
  summary: "Removes a tag from a task.",
  of: "task",
  action: "untag",
});
