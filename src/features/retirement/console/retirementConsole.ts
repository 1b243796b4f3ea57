import type { ConsolePart } from "../../../ui/consolePart.ts";
import { clientsCsv } from "./clientGroups.ts";

/** One caller of the legacy interface, by a hash of the credential, the user agent and the path. */
export type ClientView = {
  /** The first characters of a salted hash, or a fixed word for requests without a key. */
  caller: string;
  agent: string;
  /** The deprecated path that it lies below, else the first three segments below the legacy path, with ids as `{id}`. */
  path: string;
  /** The number of requests. */
  count: number;
  /** Times of the first and the last request, ISO 8601. */
  first: string;
  last: string;
};

/** The callers of the legacy interface: all, or those of paths below one path. */
export type ListClients = (below?: string) => readonly ClientView[];

/** The callers of the legacy interface, in the operators' interface and page. */
export const retirementConsole = (clients: ListClients): ConsolePart => ({
  routes(app) {
    app.get("/clients", (c) => c.json(clients(c.req.query("path"))));
    app.get("/clients.csv", (c) =>
      c.body(clientsCsv(clients(c.req.query("path"))), 200, {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": 'attachment; filename="clients.csv"',
      }),
    );
  },
  page: async () => (await import("./page.ts")).retirementPage(clients),
});
