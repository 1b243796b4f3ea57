import { tagging } from "./tagging.ts";

export const tagDataset = tagging("POST /datasets/tag", {
  summary: "Adds a tag to a dataset.",
  of: "data",
  action: "tag",
});
