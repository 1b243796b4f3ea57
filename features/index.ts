import type { FeatureDefinition } from "./load.ts";

/** The features, in the order in which they are opened; the layers of later ones go around those of earlier ones. */
export const features: readonly FeatureDefinition[] = [
  // What others are made of: it is opened before them, and closed after them.
  { ...(await import("../libraries/stores/settings.ts")), load: () => import("../libraries/stores/feature.ts") },
  { ...(await import("./sharedCache/settings.ts")), load: () => import("./sharedCache/feature.ts") },
  { ...(await import("./webhook/settings.ts")), load: () => import("./webhook/feature.ts") },
  { ...(await import("./privateDatasets/settings.ts")), load: () => import("./privateDatasets/feature.ts") },
  { ...(await import("./migration/settings.ts")), load: () => import("./migration/feature.ts") },
  { ...(await import("./retirement/settings.ts")), load: () => import("./retirement/feature.ts") },
  { ...(await import("./rateLimit/settings.ts")), load: () => import("./rateLimit/feature.ts") },
  { ...(await import("./accessLog/settings.ts")), load: () => import("./accessLog/feature.ts") },
  { ...(await import("./tracing/settings.ts")), load: () => import("./tracing/feature.ts") },
  { ...(await import("./documents/settings.ts")), load: () => import("./documents/feature.ts") },
  { settings: { shape: {} }, load: () => import("./incidents/feature.ts") },
  { settings: { shape: {} }, load: () => import("./console/feature.ts") },
  // The core's own listener of operators: it begins to listen when all others have started.
  {
    ...(await import("../src/gateway/operators/settings.ts")),
    load: () => import("../src/gateway/operators/feature.ts"),
  },
];
