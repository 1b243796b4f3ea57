import type { ConsolePart } from "../../../ui/consolePart.ts";
import type { PrivateRowsView } from "../scan.ts";

/** The scan for private datasets, in `GET /cache` and on the operators' page. */
export const privateDatasetsConsole = (view: () => PrivateRowsView): ConsolePart => ({
  cacheView: () => ({ privateRows: view() }),
  page: async () => (await import("./page.ts")).privateDatasetsPage(view),
});
