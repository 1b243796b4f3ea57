import type { Observer } from "../../../telemetry/observer.ts";
import type { ConsolePart } from "../../../ui/consolePart.ts";
import type { Migration } from "../migration.ts";
import { addMigrationRoutes } from "./routes.ts";

/** The migration in the operators' interface and page: stages, differences, the audit log and the ledger. */
export const migrationConsole = (migration: Migration, observer: Pick<Observer, "event">): ConsolePart => ({
  routes: (app) => addMigrationRoutes(app, migration, observer),
  page: async () => (await import("./page.ts")).migrationPage(migration),
});
