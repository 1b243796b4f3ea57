import { feature } from "../serve/feature.ts";

/** The features, in the order in which they are opened; the layers of later ones go around those of earlier ones. */
export const features = [
  feature(await import("./sharedCache/settings.ts"), () => import("./sharedCache/feature.ts")),
  feature(await import("./privateDatasets/settings.ts"), () => import("./privateDatasets/feature.ts")),
  feature(await import("./migration/settings.ts"), () => import("./migration/feature.ts")),
  feature(await import("./retirement/settings.ts"), () => import("./retirement/feature.ts")),
  feature(await import("./console/settings.ts"), () => import("./console/feature.ts")),
];
