import type { Core, Feature } from "../../src/gateway/index.ts";
import { storesOf } from "../../libraries/stores/storesOf.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { openIncidents } from "./incidents.ts";

/** Keeps what was wrong, and what it meant for clients: it can be read afterwards. */
const open = async (core: Core): Promise<Feature<ConsolePart>> => {
  if (core.isCheck) return {};
  const { list, close } = await openIncidents(core, storesOf(core));
  return {
    console: {
      routes: (app) => app.get("/incidents", (c) => c.json(list())),
      page: async () => (await import("./page.ts")).incidentsPage(list),
    },
    close,
  };
};

export const feature = { open };
