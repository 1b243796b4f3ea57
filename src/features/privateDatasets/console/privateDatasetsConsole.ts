import type { ConsolePart } from "../../../ui/consolePart.ts";
import type { PrivateRowsView } from "../state.ts";

/** The search for private rows, in `GET /cache` and on the operators' page. */
export const privateDatasetsConsole = (view: () => PrivateRowsView): ConsolePart => ({
  cacheView: () => ({ privateRows: view() }),
  page: async () => (await import("./page.ts")).privateDatasetsPage(view),
});
