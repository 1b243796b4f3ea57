import {
  type Endpoint,
  isLegacyRead,
  type LegacyPaths,
  legacyPattern,
  type LegacyTarget,
  type LegacyWriteKnowledge,
  pathOf,
  type ReadLegacyTarget,
  readLegacyPath,
  unescaped,
  withoutFormat,
} from "../../catalogue/index.ts";
import type { requestKinds } from "../../operation/index.ts";
import type { RequestLine } from "./failure.ts";
import type { PartSettings } from "./parts.ts";

/** The endpoints, and the paths of the legacy interface. */
type LegacyKnowledge = {
  endpoints: Record<string, Endpoint>;
  legacyPaths: LegacyPaths;
  legacyWrites: LegacyWriteKnowledge;
};

/** The kind of a request to legacy. `target`: undefined where its path is not one of legacy's interface. */
export const legacyKindOf = (
  { legacyPaths, legacyWrites }: Omit<LegacyKnowledge, "endpoints">,
  { method, path }: RequestLine,
  target: LegacyTarget | undefined,
): Exclude<keyof typeof requestKinds, "other"> => {
  if (target === undefined) return legacyPaths.files.test(pathOf(path)) ? "file" : "website";
  return isLegacyRead(legacyWrites, method, withoutFormat(target)) ? "read" : "write";
};

/** Names the part of legacy that a request asks: the endpoint of a read, else its kind. */
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
