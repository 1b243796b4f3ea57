import type { RequestListener } from "node:http";
import { once, urlOf } from "../../operation/index.ts";
import type { Core, Feature } from "../answer/feature.ts";
import { openGuard } from "../http/guard.ts";
import { cannotListen } from "../server.ts";
import { startAdminServer } from "./adminServer.ts";
import type { SignIn } from "./guard.ts";
import type { OperatorsSettings } from "./settings.ts";

/**
 * The operators' listener. Its app takes longer to load than the rest of the start, so it waits
 * until the gateway listens.
 */
const open = (core: Core, settings: OperatorsSettings): Feature => {
  const { observer, clientLimits } = core;
  const { ADMIN_HOST: host, ADMIN_PORT: port, ADMIN_NAMES: names, ADMIN_TOKEN: token } = settings;
  const access = { host, names, token, metricsToken: settings.METRICS_TOKEN };
  let server: Awaited<ReturnType<typeof startAdminServer>> | undefined;
  const guard = openGuard(observer.fault);
  return {
    async start(address) {
      const load = once(async () => {
        const { operatorsApp, operatorsListener } = await import("./app.ts");
        const makeApp = (signIn?: SignIn) => operatorsApp(core, access, signIn);
        const adding = core.features.find((feature) => feature.operatorsApp);
        const app = (await adding?.operatorsApp?.(makeApp, address)) ?? makeApp();
        return operatorsListener(app, guard.fail);
      });
      const listen: RequestListener = (request, response) => {
        load()
          .then((answer) => answer(request, response))
          .catch((error: unknown) => guard.fail(response, error));
      };
      const started = await startAdminServer(listen, { host, port, guard }, clientLimits).catch(
        (error: NodeJS.ErrnoException) => error,
      );
      if (started instanceof Error) throw cannotListen("ADMIN_PORT, ADMIN_HOST", host, port, started);
      server = started;
      setImmediate(() => void load().catch(observer.fault));
      return { listensOn: `operators: ${urlOf(host, started.port)}` };
    },
    async close() {
      await server?.stop();
    },
  };
};

/** Opens the operators' listener, which `features/index.ts` lists as the last feature. */
export const feature = { open };
