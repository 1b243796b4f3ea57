import type { LegacyWriteKnowledge } from "../endpoint/legacyInterface.ts";
import type { LegacyTarget } from "./legacyTarget.ts";

const safe: ReadonlySet<string> = new Set(["HEAD", "OPTIONS", "TRACE"]);

/** The segments of a target behind its format, if it names one. */
export const withoutFormat = ({ segments }: Pick<LegacyTarget, "segments">): readonly string[] =>
  segments[0] === "json" || segments[0] === "xml" ? segments.slice(1) : segments;

/** Whether a request to legacy's interface writes nothing. `segments`: those behind the format. */
export const isLegacyRead = (
  { reads, writingGets }: Pick<LegacyWriteKnowledge, "reads" | "writingGets">,
  method: string,
  segments: readonly string[],
): boolean => {
  if (method === "POST") return isOneOf(reads, segments);
  return method === "GET" ? !isOneOf(writingGets, segments) : safe.has(method);
};

/** Whether one of these patterns matches the path of these segments. */
export const isOneOf = (paths: readonly RegExp[], segments: readonly string[]): boolean =>
  paths.some((one) => one.test(`/${segments.join("/")}`));
