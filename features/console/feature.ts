import type { Core, Feature } from "../../src/gateway/index.ts";
import { consoleEvents } from "./events.ts";

/** The operators' interface and page, on the operators' listener. */
const open = (core: Core): Feature => ({
  operatorsApp: async (...opened) => (await import("./consoleApp.ts")).consoleApp(core, ...opened),
});

export const feature = { open, events: consoleEvents };
