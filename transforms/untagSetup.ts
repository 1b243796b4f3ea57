import { tagging } from "./tagging.ts";

export const untagSetup = tagging("POST /setup/untag", {
  summary: "Removes a tag from a setup.",
  also: ["POST /setups/untag"],
  of: "setup",
  action: "untag",
});
