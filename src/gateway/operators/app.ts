import type { RequestListener } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { accepts } from "hono/accepts";
import { writeExposition } from "../../operation/index.ts";
import type { Gateway } from "../openGateway.ts";
import type { Core } from "../answer/core.ts";
import type { Guard } from "../http/guard.ts";
import { guardMiddleware, type GuardSettings, type SignIn } from "./guard.ts";

const OPEN_METRICS = "application/openmetrics-text";
const TEXT = "text/plain";

type ReadGateway = Pick<Core, "observer" | "dependencies" | "meter" | "keysAlone" | "legacyTroubles" | "traffic"> &
  Pick<Gateway, "isStopping">;

/**
 * What operators' programs ask: whether the gateway lives, whether it is ready, and its metrics. `signIn` answers
 * `GET /` without the token.
 */
export const operatorsApp = (
  { observer, dependencies, meter, isStopping, keysAlone, legacyTroubles, traffic }: ReadGateway,
  guard: GuardSettings,
  signIn?: SignIn,
): Hono => {
  const details = () => ({
    dependencies: dependencies
      .states()
      .map((state) => (state.name === "legacy" ? { ...state, only: keysAlone()?.only } : state)),
    legacyTroubles: legacyTroubles(),
    lastMinute: traffic.lastMinute().filter(({ requests }) => requests > 0),
  });
  const app = new Hono();
  app.use(guardMiddleware(guard, signIn));
  app.notFound((c) => c.json({ detail: "Not Found" }, 404));
  app.onError((error, c) => {
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    // A client that breaks off its body makes its reading fail: that is no fault.
    if (incoming?.destroyed !== true || incoming.complete) observer.fault(error);
    return c.json({ detail: "Internal Server Error" }, 500);
  });
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => {
    // A dependency that fails leaves the gateway ready: the cache still answers.
    const status = isStopping() ? "stopping" : "ready";
    const verbose = c.req.query("verbose") === undefined ? {} : details();
    return c.json({ status, ...verbose }, status === "ready" ? 200 : 503);
  });
  app.get("/metrics", async (c) => {
    const isOpenMetrics =
      accepts(c, { header: "Accept", supports: [OPEN_METRICS, TEXT], default: TEXT }) === OPEN_METRICS;
    const { contentType, body } = await writeExposition(await meter.read(), isOpenMetrics);
    return c.body(body, 200, { "Content-Type": contentType });
  });
  return app;
};

/** Answers requests by this app. `fail` gets the errors that the app throws and does not handle itself. */
export const operatorsListener = (
  app: Hono,
  fail: Guard["fail"] = (response) => void response.destroy(),
): RequestListener => {
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false, hostname: "localhost" });
  return (request, response) => {
    answer(request, response).catch((error: unknown) => fail(response, error));
  };
};
