import type { RequestListener } from "node:http";
import { type Guard, openGuard } from "../../src/gateway/http/guard.ts";
import { writeDetail } from "../../src/gateway/http/problemDetails.ts";
import { once } from "../../src/operation/limits/once.ts";
import type { Core, Feature } from "../../src/gateway/answer/feature.ts";
import { urlOf } from "../../src/gateway/http/listen.ts";
import { cannotListen } from "../../src/gateway/server.ts";
import { consoleEvents } from "./events.ts";
import { startAdminServer } from "./adminServer.ts";
import type { ConsoleSettings } from "./settings.ts";

/** Loads what answers operators. It takes longer than the rest of the start, so it waits until the gateway listens. */
const loadListener = async (core: Core, settings: ConsoleSettings, address: string, { fail }: Guard) => {
  const { consoleApp, consoleListener } = await import("./consoleApp.ts");
  const { ADMIN_HOST: host, ADMIN_NAMES: names, ADMIN_TOKEN: token, METRICS_TOKEN: metricsToken } = settings;
  return consoleListener(consoleApp(core, { host, names, token, metricsToken }, address), fail);
};

/** The operators' interface and page, on a listener of its own. */
const open = (core: Core, settings: ConsoleSettings): Feature => {
  const { ADMIN_HOST: host, ADMIN_PORT: port } = settings;
  let server: Awaited<ReturnType<typeof startAdminServer>> | undefined;
  const guard = openGuard(core.observer.fault, writeDetail);
  return {
    async start(address) {
      const load = once(() => loadListener(core, settings, address, guard));
      const listen: RequestListener = (request, response) => {
        load()
          .then((answer) => answer(request, response))
          .catch((error: unknown) => guard.fail(response, error));
      };
      const started = await startAdminServer(listen, { host, port, guard }, core.clientLimits).catch(
        (error: NodeJS.ErrnoException) => error,
      );
      if (started instanceof Error) throw cannotListen("ADMIN_PORT, ADMIN_HOST", host, port, started);
      server = started;
      setImmediate(() => void load().catch(core.observer.fault));
      return { listensOn: `operators: ${urlOf(host, started.port)}` };
    },
    async close() {
      await server?.stop();
    },
  };
};

export const feature = { open, events: consoleEvents };
