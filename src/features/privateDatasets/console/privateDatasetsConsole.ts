import type { ConsolePart } from "../../../ui/consolePart.ts";
import type { PrivateRowsView } from "../state.ts";

/** The search for private rows, in `GET /cache` and on the operators' page. `view` is `undefined` where the setting is off. */
export const privateDatasetsConsole = (view: () => PrivateRowsView | undefined): ConsolePart => ({
  cacheView() {
    const privateRows = view();
    return privateRows === undefined ? {} : { privateRows };
  },
  page: async () => (await import("./page.ts")).privateDatasetsPage(view),
});
