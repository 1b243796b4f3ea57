import type { RequestListener } from "node:http";
import { once, urlOf } from "../../operation/index.ts";
import type { Context, Hono } from "hono";
import type { Gateway } from "../openGateway.ts";
import { openGuard } from "../http/guard.ts";
import { cannotListen } from "../server.ts";
import { startAdminServer } from "./adminServer.ts";
import type { SignIn } from "./guard.ts";
import type { OperatorsSettings } from "./settings.ts";

/**
 * Makes what answers operators, of the app that answers their programs, once the gateway listens. `signIn`: what
 * a browser without a token gets. `address`: where the new interface is served.
 */
export type AddToOperators = (
  makeApp: (signIn?: (c: Context) => Promise<Response>) => Hono,
  address: string,
) => Promise<Hono>;

/**
 * The operators' listener. Its app takes longer to load than the rest of the start, so it waits
 * until the gateway listens.
 */
export const openOperators = (
  { core, isStopping }: Pick<Gateway, "core" | "isStopping">,
  settings: OperatorsSettings,
  add?: AddToOperators,
) => {
  const { observer, clientLimits } = core;
  const { ADMIN_HOST: host, ADMIN_PORT: port, ADMIN_NAMES: names, ADMIN_TOKEN: token } = settings;
  const access = { host, names, token, metricsToken: settings.METRICS_TOKEN };
  let server: Awaited<ReturnType<typeof startAdminServer>> | undefined;
  const guard = openGuard(observer.fault);
  return {
    async start(address: string) {
      const load = once(async () => {
        const { operatorsApp, operatorsListener } = await import("./app.ts");
        const makeApp = (signIn?: SignIn) => operatorsApp({ ...core, isStopping }, access, signIn);
        const app = (await add?.(makeApp, address)) ?? makeApp();
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
