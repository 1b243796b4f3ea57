import type { FeatureDefinition } from "../../features/load.ts";
import { settings } from "../../src/gateway/operators/settings.ts";

/** In place of the features, where the core's tests show that it does without them: the operators' listener alone. */
export const features: readonly FeatureDefinition[] = [
  { settings, load: () => import("../../src/gateway/operators/feature.ts") },
];
