import { tagging } from "./tagging.ts";

export const tagSetup = tagging("POST /setup/tag", {
  summary: "Adds a tag to a setup.",
  also: ["POST /setups/tag"],
  id: "setup_id",
  action: "setup_tag",
});
