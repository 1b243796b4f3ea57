import { tagging } from "./tagging.ts";

export const untagDataset = tagging("POST /datasets/untag", {
  summary: "Removes a tag from a dataset.",
  of: "data",
  action: "untag",
});
