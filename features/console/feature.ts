import { type Core, type Feature, openOperators, type OperatorsSettings } from "../../src/gateway/index.ts";
import { consoleEvents } from "./events.ts";

/** The operators' interface and page, on the operators' listener. */
const open = (core: Core, settings: OperatorsSettings): Feature =>
  openOperators(core, settings, async (...opened) => (await import("./consoleApp.ts")).consoleApp(core, ...opened));

export const feature = { open, events: consoleEvents };
