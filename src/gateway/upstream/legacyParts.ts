import {
  type Endpoint,
  legacyKindOf,
  type LegacyPaths,
  legacyPattern,
  type LegacyWriteKnowledge,
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

/** Names the part of legacy that a request goes to: the endpoint of a read, else the kind of the request. */
export const legacyParts = (catalogue: LegacyKnowledge, readTarget: ReadLegacyTarget): PartSettings["partOf"] => {
  const patterns = Object.entries(catalogue.endpoints).flatMap(([name, endpoint]) =>
    legacyPattern({ ...endpoint, name }),
  );
  return (request) => {
    const target = readTarget(request.path);
    const kind = legacyKindOf(catalogue, request, target);
    if (target === undefined || kind !== "read") return kind;
    return readLegacyPath(patterns, withoutFormat(target).map(unescaped))[0]?.pattern.endpoint.name ?? kind;
  };
};
