import { tagging } from "./tagging.ts";

export const tagTask = tagging("POST /tasks/tag", {
  summary: "Adds a tag to a task.",
  of: "task",
  action: "tag",
});
