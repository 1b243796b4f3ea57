import type { Meter } from "../../src/operation/index.ts";
import { stageNames } from "./stage.ts";
import type { Migration, StageView } from "./migration.ts";

/**
 * Registers the metrics of the stages, which are looked up when they are read. `shed`: the
 * comparisons that were left out.
 */
export const meterStages = (meter: Meter, migration: Pick<Migration, "view">, shed: () => number): void => {
  /** One sample of each endpoint that has a value. */
  const each = (valueOf: (view: StageView) => number | undefined) => () =>
    Object.entries(migration.view()).flatMap(([endpoint, view]) => {
      const value = valueOf(view);
      return value === undefined ? [] : [{ labels: { endpoint }, value }];
    });
  /** Distinct requests that show how well both sides agree: a drift does not. */
  const conclusive = ({ parityInStage }: StageView) => parityInStage.compared - parityInStage.drift;

  meter.gauge(
    "stage",
    `The stage of an endpoint: ${stageNames.map((name, i) => `${i} ${name}`).join(", ")}.`,
    each(({ stage }) => stageNames.indexOf(stage)),
  );
  meter.gauge(
    "parity_lower_bound_ratio",
    "Lower Wilson bound of the share of requests without an unexplained difference, which a gate looks at.",
    each((view) => (conclusive(view) === 0 ? undefined : view.parityInStage.lower)),
  );
  meter.gauge(
    "gate_parity_ratio",
    "Least parity that the gate of an endpoint allows.",
    each(({ gate }) => gate?.parity),
  );
  meter.gauge("parity_comparisons", "Distinct requests compared since the last move, without drift.", each(conclusive));
  meter.gauge(
    "unexplained_differences",
    "Distinct requests with an unexplained difference since the last move.",
    each(({ parityInStage }) => parityInStage.unexplained),
  );
  meter.gauge(
    "old_client_comparisons",
    "Distinct requests of old clients, by what our answer in legacy's form loses: nothing, a named loss, or more.",
    () =>
      Object.entries(migration.view()).flatMap(([endpoint, { oldClients }]) =>
        (["equal", "expected", "unexplained"] as const).flatMap((result) =>
          oldClients ? [{ labels: { endpoint, result }, value: oldClients[result] }] : [],
        ),
      ),
  );
  meter.total("mirror_shed_total", "Comparisons left out for lack of budget.", shed);
};
