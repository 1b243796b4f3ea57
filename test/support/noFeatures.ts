import type { FeatureDefinition } from "../../features/load.ts";
import { openOperators } from "../../src/gateway/operators/openOperators.ts";
import { type OperatorsSettings, settings } from "../../src/gateway/operators/settings.ts";

/** In place of the features, where the core's tests show that it does without them: the operators' listener alone. */
export const features: readonly FeatureDefinition[] = [
  {
    settings,
    load: async () => ({
      feature: {
        open: (core, given) => openOperators(core, given as OperatorsSettings),
      },
    }),
  },
];
