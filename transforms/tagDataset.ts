import { tagging } from "./tagging.ts";

export const tagDataset = tagging("POST /datasets/tag", {
  summary: "Adds a tag to a dataset.",
  id: "data_id",
  action: "data_tag",
});
