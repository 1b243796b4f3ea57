import { membership } from "./studies.ts";

export const detachFromStudy = membership("POST /studies/detach", {
  summary: "Takes tasks or runs out of a study.",
  action: "detach",
});
