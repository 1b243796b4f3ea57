import { tagging } from "./tagging.ts";

export const untagDataset = tagging("POST /datasets/untag", {
  summary: "Removes a tag from a dataset.",
  id: "data_id",
  action: "data_untag",
});
