import type { Core } from "../../src/gateway/index.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { openIncidents } from "./incidents.ts";

type Incidents = { console: ConsolePart; close: () => Promise<void> };

/** Records incidents and their effect on clients, so that operators can read them afterwards. */
const open = async (core: Core, stores: Stores): Promise<Incidents | undefined> => {
  if (core.isCheck) return undefined;
  const { list, close } = await openIncidents(core, stores);
  return {
    console: {
      routes: (app) => app.get("/incidents", (c) => c.json(list())),
      page: async () => (await import("./page.ts")).incidentsPage(list),
    },
    close,
  };
};

export const feature = { open };
