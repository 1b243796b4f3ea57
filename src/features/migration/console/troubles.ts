import { counted } from "../../../ui/wording.ts";
import type { StagesView, StageView } from "../views.ts";

/** Why an endpoint needs an operator, the most urgent reason first; empty if it does not. */
export const troublesOf = ({ parity, gateSays, isGateFailing }: StageView): string[] => [
  ...(parity.unexplained > 0
    ? [
        `${counted(parity.unexplained, "answer")} ${parity.unexplained === 1 ? "differs" : "differ"}, and nothing explains it`,
      ]
    : []),
  ...(isGateFailing === true ? [`its gate fails: ${gateSays?.replace(/^\w+: /, "") ?? ""}`] : []),
];

/** No request in half an hour, nothing compared, nothing wrong. */
const isIdle = (view: StageView): boolean =>
  view.spark.every((count) => count === 0) && view.rate === 0 && view.parity.compared === 0;

/** One endpoint with its name. */
export type NamedView = { endpoint: string; view: StageView; troubles: readonly string[] };

/** The endpoints that need an operator, those with the most unexplained answers first; then those in use; then idle ones. */
export const sortByTrouble = (stages: StagesView): Record<"troubled" | "used" | "idle", NamedView[]> => {
  const all = Object.entries(stages).map(([endpoint, view]) => ({ endpoint, view, troubles: troublesOf(view) }));
  const fine = all.filter(({ troubles }) => troubles.length === 0);
  return {
    troubled: all
      .filter(({ troubles }) => troubles.length > 0)
      .toSorted((a, b) => b.view.parity.unexplained - a.view.parity.unexplained),
    used: fine.filter(({ view }) => !isIdle(view)),
    idle: fine.filter(({ view }) => isIdle(view)),
  };
};
