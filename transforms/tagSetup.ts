import { tagging } from "./tagging.ts";

export const tagSetup = tagging("POST /setup/tag", {
  summary: "Adds a tag to a setup.",
  also: ["POST /setups/tag"],
  of: "setup",
  action: "tag",
});
