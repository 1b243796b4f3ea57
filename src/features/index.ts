import { feature } from "../gateway/answer/feature.ts";

/**
 * The features, in the order in which they are opened; the layers of later ones go around those of earlier ones. `feature` takes what a
 * module exports, under any name: `settings.ts` and `feature.ts` export one object each.
 */
export const features = [
  feature(await import("./sharedCache/settings.ts"), () => import("./sharedCache/feature.ts")),
  feature(await import("./webhook/settings.ts"), () => import("./webhook/feature.ts")),
  feature(await import("./privateDatasets/settings.ts"), () => import("./privateDatasets/feature.ts")),
  feature(await import("./migration/settings.ts"), () => import("./migration/feature.ts")),
  feature(await import("./retirement/settings.ts"), () => import("./retirement/feature.ts")),
  feature(await import("./rateLimit/settings.ts"), () => import("./rateLimit/feature.ts")),
  feature(await import("./accessLog/settings.ts"), () => import("./accessLog/feature.ts")),
  feature(await import("./tracing/settings.ts"), () => import("./tracing/feature.ts")),
  feature(await import("./documents/settings.ts"), () => import("./documents/feature.ts")),
  feature(await import("./console/settings.ts"), () => import("./console/feature.ts")),
];
