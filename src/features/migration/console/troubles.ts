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

/** One endpoint with its name. */
export type NamedView = { endpoint: string; view: StageView; troubles: readonly string[] };

/** The endpoints that need an operator, those with the most unexplained answers first; then others that are moved; then those in legacy, by use. */
export const sortByTrouble = (stages: StagesView): Record<"troubled" | "moved" | "inLegacy", NamedView[]> => {
  const all = Object.entries(stages).map(([endpoint, view]) => ({ endpoint, view, troubles: troublesOf(view) }));
  const {
    troubled = [],
    moved = [],
    inLegacy = [],
  } = Object.groupBy(all, ({ view, troubles }) =>
    troubles.length > 0 ? "troubled" : view.stage === "legacy" ? "inLegacy" : "moved",
  );
  return {
    troubled: troubled.toSorted((a, b) => b.view.parity.unexplained - a.view.parity.unexplained),
    moved,
    inLegacy: inLegacy.toSorted((a, b) => b.view.rate - a.view.rate),
  };
};
