import { unescaped } from "../../endpoint/input.ts";
import { pathOf } from "../../http/requestTarget.ts";

/** `/api//v1/%6Ason/?x` -> `/api/v1/json`: a path by which what is configured is found, as legacy reads doubled slashes. */
export const plainPath = (target: string): string => {
  const path = pathOf(target);
  if (!path.includes("%") && !path.includes("//")) return path;
  const segments = path.split("/").filter((segment) => segment !== "");
  return `/${segments.map(plainSegment).join("/")}`;
};

const plainSegment = (segment: string): string => {
  const plain = unescaped(segment);
  // An escaped slash parts nothing.
  return plain.includes("/") ? segment : plain;
};
