import type { Core, Feature } from "../../src/gateway/answer/feature.ts";
import { openOperators } from "../../src/gateway/operators/openOperators.ts";
import type { OperatorsSettings } from "../../src/gateway/operators/settings.ts";
import { consoleEvents } from "./events.ts";

/** The operators' interface and page, on the operators' listener. */
const open = (core: Core, settings: OperatorsSettings): Feature =>
  openOperators(core, settings, async (guard, address) =>
    (await import("./consoleApp.ts")).consoleApp(core, guard, address),
  );

export const feature = { open, events: consoleEvents };
