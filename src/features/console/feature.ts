import type { Core, Feature } from "../../serve/feature.ts";
import { cannotListen, urlOf } from "../../serve/server.ts";
import { startAdminServer } from "./adminServer.ts";
import { consoleApp } from "./consoleApp.ts";
import type { ConsoleSettings } from "./settings.ts";

/** The operators' interface and page, on a listener of its own. */
const open = (core: Core, settings: ConsoleSettings): Feature => {
  const { ADMIN_HOST: host, ADMIN_PORT: port, ADMIN_TOKEN: token } = settings;
  let server: Awaited<ReturnType<typeof startAdminServer>> | undefined;
  return {
    async start() {
      const app = consoleApp(core, { host, token });
      const started = await startAdminServer(app, host, port, core.clientLimits).catch(
        (error: NodeJS.ErrnoException) => error,
      );
      if (started instanceof Error) throw new Error(cannotListen("ADMIN_PORT, ADMIN_HOST", host, port, started));
      server = started;
      return { listensOn: `operators: ${urlOf(host, started.port)}` };
    },
    async close() {
      await server?.stop();
    },
  };
};

/** The feature, as the gateway opens it. */
export const consoleFeature = { open };
