import { tagging } from "./tagging.ts";

export const untagFlow = tagging("POST /flows/untag", {
  summary: "Removes a tag from a flow.",
  of: "flow",
  action: "untag",
});
