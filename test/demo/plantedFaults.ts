import type { Difference } from "../../libraries/compare/difference.ts";
import type { DifferenceView } from "../../features/migration/differences.ts";
import type { Fault } from "../standIn/faults.ts";
import type { Planted } from "../standIn/startStandIn.ts";

/** A fault of the stand-in, and its effect in words. */
type PlantedFault = { fault: Fault; means: string };

/** The faults that the demo plants in the stand-in, each once an endpoint. */
export const plantedFaults: readonly PlantedFault[] = [
  { fault: { endpoint: "getDataset", fault: "wrongType", path: "/version" }, means: "a number has become text" },
  { fault: { endpoint: "getDataset", fault: "missingField", path: "/licence" }, means: "a field is missing" },
  { fault: { endpoint: "getDataset", fault: "lostEntry", path: "/creator" }, means: "an author is lost" },
  {
    fault: { endpoint: "getDataset", fault: "otherValue", path: "/name", again: false },
    means: "wrong once, then right",
  },
  { fault: { endpoint: "listDatasets", fault: "otherValue", path: "/*/status" }, means: "another status of a dataset" },
  {
    fault: { endpoint: "listDatasets", fault: "wrongType", path: "/*/quality/*/value", share: 20 },
    means: "text, in 20 %",
  },
  {
    fault: { endpoint: "getSetup", fault: "lostEntry", path: "/setup_parameters/parameter" },
    means: "a parameter is lost",
  },
  { fault: { endpoint: "getStudy", fault: "extraField", path: "/colour" }, means: "a field that the interface lacks" },
  { fault: { endpoint: "findFlow", fault: "otherStatus" }, means: "another status" },
  { fault: { endpoint: "listEvaluationMeasures", fault: "lostEntry", path: "" }, means: "a measure is lost" },
];

/**
 * The finding of a fault: the paths of its differences, and `drift` if it was gone when both sides were asked again.
 * `undefined` until the comparison has found all that the fault did.
 */
export const findingOf = (
  { endpoint, fault }: Fault,
  planted: readonly Planted[],
  found: readonly Pick<DifferenceView, "endpoint" | "path" | "form" | "kind">[],
): { kind: "unexplained" | "drift"; paths: string[] } | undefined => {
  const done = planted.flatMap((shown) =>
    shown.endpoint === endpoint && shown.fault === fault && "path" in shown && shown.as !== "allowed" ? [shown] : [],
  );
  const isFound = ({ path, form, as }: { path: string; form: Difference["form"]; as: string }): boolean =>
    found.some(
      (difference) =>
        difference.endpoint === endpoint &&
        difference.path === path &&
        difference.form === form &&
        difference.kind === (as === "drift" ? "drift" : "unexplained"),
    );
  if (done.length === 0 || !done.every(isFound)) return undefined;
  const kind = done.some(({ as }) => as === "drift") ? "drift" : "unexplained";
  return { kind, paths: done.map(({ path }) => path) };
};
