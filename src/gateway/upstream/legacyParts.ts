import {
  type Endpoint,
  isLegacyRead,
  type LegacyPaths,
  legacyPattern,
  type LegacyWriteKnowledge,
  pathOf,
  type ReadLegacyTarget,
  readLegacyPath,
  unescaped,
  withoutFormat,
} from "../../catalogue/index.ts";
import type { PartSettings } from "./parts.ts";

/** The endpoints, and the paths of the legacy interface. */
type LegacyKnowledge = {
  endpoints: Record<string, Endpoint>;
  legacyPaths: LegacyPaths;
  legacyWrites: LegacyWriteKnowledge;
};

/** Names the part of legacy that a request asks: the endpoint of a read, else `read`, `write`, `file` or `website`. */
export const legacyParts = (
  { endpoints, legacyPaths, legacyWrites }: LegacyKnowledge,
  readTarget: ReadLegacyTarget,
): PartSettings["partOf"] => {
  const patterns = Object.entries(endpoints).flatMap(([name, endpoint]) => legacyPattern({ ...endpoint, name }));
  return ({ method, path }) => {
    const target = readTarget(path);
    if (target === undefined) return legacyPaths.files.test(pathOf(path)) ? "file" : "website";
    const segments = withoutFormat(target);
    if (!isLegacyRead(legacyWrites, method, segments)) return "write";
    return readLegacyPath(patterns, segments.map(unescaped))[0]?.pattern.endpoint.name ?? "read";
  };
};
