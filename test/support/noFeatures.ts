import { nothing } from "../../src/gateway/answer/additions.ts";
import { settings } from "../../src/gateway/operators/settings.ts";

// In place of the features and their settings, where the core's tests show that it does without them.

export const fragments = [settings];

export const loadFeatures = async () => ({ off: [], events: {}, openTier: undefined, open: nothing });
