import type { FeatureModule } from "../src/gateway/index.ts";
import {
  coreEvents,
  type EventDefinitions,
  type Settings,
  type SettingsFragment,
  type WhenOff,
} from "../src/operation/index.ts";

/** A feature as `features/index.ts` lists it: what its settings are, and how the rest of it is loaded. */
export type FeatureDefinition = { settings: SettingsFragment; load: () => Promise<{ feature: FeatureModule }> };

/** Loads the features that these settings ask for, in their order. */
export const loadFeatures = async (
  features: readonly FeatureDefinition[],
  settings: Settings,
): Promise<{ modules: FeatureModule[]; off: WhenOff[] }> => {
  const on = features.filter((one) => one.settings.isOn?.(settings) ?? true);
  const off = features.flatMap((one) => (on.includes(one) ? [] : (one.settings.whenOff ?? [])));
  return { modules: await modulesOf(on), off };
};

/** All events: the core's, and those of features. */
export const allEvents = async (features: readonly FeatureDefinition[]): Promise<EventDefinitions> => {
  const modules = await modulesOf(features);
  return Object.assign({}, coreEvents, ...modules.map(({ events }) => events)) as EventDefinitions;
};

const modulesOf = async (features: readonly FeatureDefinition[]): Promise<FeatureModule[]> =>
  (await Promise.all(features.map(({ load }) => load()))).map(({ feature }) => feature);
