import { unescaped } from "../../endpoint/input.ts";
import { pathOf } from "../../http/requestTarget.ts";

/** `/api//v1/%6Ason/?x` -> `/api/v1/json`: the path by which configured paths are found. Legacy reads doubled slashes as one. */
export const plainPath = (target: string): string => {
  const path = pathOf(target);
  if (!path.includes("%") && !path.includes("//")) return path;
  const segments = path.split("/").filter((segment) => segment !== "");
  return `/${segments.map(plainSegment).join("/")}`;
};

const plainSegment = (segment: string): string => {
  const plain = unescaped(segment);
  // An escaped slash does not separate segments.
  return plain.includes("/") ? segment : plain;
};
