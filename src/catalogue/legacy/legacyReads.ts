import type { LegacyPaths, LegacyWriteKnowledge } from "../endpoint/legacyInterface.ts";
import { pathOf } from "../endpoint/target.ts";
import { type LegacyTarget, withoutFormat } from "./legacyTarget.ts";

/** Methods by which legacy never writes. A GET writes at a few paths. */
const safe: ReadonlySet<string> = new Set(["HEAD", "OPTIONS", "TRACE"]);

/** True if legacy never writes by this method, at any path. */
export const isSafeMethod = (method: string): boolean => safe.has(method);

/** True if a request to legacy's interface writes nothing. `segments`: those after the format. */
export const isLegacyRead = (
  { reads, writingGets }: Pick<LegacyWriteKnowledge, "reads" | "writingGets">,
  method: string,
  segments: readonly string[],
): boolean => {
  if (method === "POST") return isOneOf(reads, segments);
  return method === "GET" ? !isOneOf(writingGets, segments) : isSafeMethod(method);
};

/** True if one of these patterns matches the path of these segments. */
export const isOneOf = (paths: readonly RegExp[], segments: readonly string[]): boolean => {
  const path = `/${segments.join("/")}`;
  for (const pattern of paths) if (pattern.test(path)) return true;
  return false;
};

/** `file`: a data file. `website`: anything else outside of the interface. */
export type LegacyKind = "read" | "write" | "file" | "website";

/** The kind of a request to legacy. `target`: undefined if its path is not a path of legacy's interface. */
export const legacyKindOf = (
  { legacyPaths, legacyWrites }: { legacyPaths: LegacyPaths; legacyWrites: LegacyWriteKnowledge },
  { method, path }: { method: string; path: string },
  target: LegacyTarget | undefined,
): LegacyKind => {
  if (target === undefined) return legacyPaths.files.test(pathOf(path)) ? "file" : "website";
  return isLegacyRead(legacyWrites, method, withoutFormat(target)) ? "read" : "write";
};
