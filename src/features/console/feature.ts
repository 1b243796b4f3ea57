import type { RequestListener } from "node:http";
import { refuseRequest } from "../../gateway/http/refusal.ts";
import type { Core, Feature } from "../../gateway/answer/feature.ts";
import { urlOf } from "../../gateway/http/listen.ts";
import { cannotListen } from "../../gateway/server.ts";
import { consoleEvents } from "./events.ts";
import { startAdminServer } from "./adminServer.ts";
import type { ConsoleSettings } from "./settings.ts";

/** Loads what answers operators. It takes longer than the rest of the start, so it waits until the gateway listens. */
const loadListener = async (core: Core, settings: ConsoleSettings, address: string) => {
  const { consoleApp, consoleListener } = await import("./consoleApp.ts");
  const { ADMIN_HOST: host, ADMIN_NAMES: names, ADMIN_TOKEN: token, METRICS_TOKEN: metricsToken } = settings;
  return consoleListener(consoleApp(core, { host, names, token, metricsToken }, address));
};

/** The operators' interface and page, on a listener of its own. */
const open = (core: Core, settings: ConsoleSettings): Feature => {
  const { ADMIN_HOST: host, ADMIN_PORT: port } = settings;
  let server: Awaited<ReturnType<typeof startAdminServer>> | undefined;
  let loaded: Promise<RequestListener> | undefined;
  const load = (address: string) => {
    // What could not be loaded is loaded again for the next request.
    loaded ??= loadListener(core, settings, address).catch((error: Error) => {
      loaded = undefined;
      core.observer.event("internal_error", { error: error.stack });
      return (_, response) => refuseRequest(response, { status: 500, detail: "Internal Server Error" });
    });
    return loaded;
  };
  return {
    async start(address) {
      const listen: RequestListener = (request, response) =>
        void load(address).then((answer) => answer(request, response));
      const started = await startAdminServer(listen, host, port, core.clientLimits).catch(
        (error: NodeJS.ErrnoException) => error,
      );
      if (started instanceof Error) throw new Error(cannotListen("ADMIN_PORT, ADMIN_HOST", host, port, started));
      server = started;
      setImmediate(() => void load(address));
      return { listensOn: `operators: ${urlOf(host, started.port)}` };
    },
    async close() {
      await server?.stop();
    },
  };
};

export const feature = { open, events: consoleEvents };
