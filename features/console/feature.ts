import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import type { AddToOperators } from "../../src/gateway/index.ts";
import type { ConsoleCore } from "./consoleCore.ts";
import { consoleEvents } from "./events.ts";

/** The operators' interface and page, on the operators' listener. */
const open =
  (core: ConsoleCore, parts: readonly ConsolePart[]): AddToOperators =>
  async (...opened) =>
    (await import("./consoleApp.ts")).consoleApp(core, parts, ...opened);

export const feature = { open, events: consoleEvents };
