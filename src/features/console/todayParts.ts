import type { Hono } from "hono";
import type { Services } from "../../serve/services.ts";
import { migrationConsole } from "../migration/console/migrationConsole.ts";
import { privateDatasetsConsole } from "../privateDatasets/console/privateDatasetsConsole.ts";
import { type ListClients, retirementConsole } from "../retirement/console/retirementConsole.ts";
import { consoleApp, type ConsoleSettings } from "./consoleApp.ts";

/** The operators' interface with the parts of all features, until features bring their own. */
export const adminApp = (services: Services, settings: ConsoleSettings & { clients: ListClients }): Hono =>
  consoleApp(services, {
    ...settings,
    parts: [
      migrationConsole(services.migration, services.observer),
      retirementConsole(settings.clients),
      privateDatasetsConsole(() => services.privateRows?.state()),
    ],
  });
