import { tagging } from "./tagging.ts";

export const tagFlow = tagging("POST /flows/tag", {
  summary: "Adds a tag to a flow.",
  of: "flow",
  action: "tag",
});
