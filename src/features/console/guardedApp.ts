import { Hono } from "hono";
import type { Observer } from "../../telemetry/observer.ts";
import { guard } from "./guard.ts";
import { signInRefusal } from "./page/pageRoutes.ts";

/** An app for operators alone: whoever the guard refuses reaches none of its routes. */
export const guardedApp = (settings: { host: string; token?: string | undefined }, observer: Observer): Hono => {
  const app = new Hono();
  const refusalOf = guard(settings);
  app.use(async (c, next): Promise<Response | undefined> => {
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Cache-Control", "no-store");
    const header = (name: string) => c.req.header(name);
    const refusal = refusalOf({
      method: c.req.method,
      host: header("host"),
      target: new URL(c.req.url).host,
      origin: header("origin"),
      fetchSite: header("sec-fetch-site"),
      authorization: header("authorization"),
      contentType: header("content-type"),
    });
    if (refusal?.status === 401 && c.req.path === "/" && c.req.method === "GET") return signInRefusal(c);
    if (refusal)
      return c.json(
        { detail: refusal.detail },
        refusal.status,
        refusal.status === 401 ? { "WWW-Authenticate": "Bearer" } : {},
      );
    await next();
    return undefined;
  });
  app.notFound((c) => c.json({ detail: "Not Found" }, 404));
  app.onError((error, c) => {
    observer.event("internal_error", { error: error.stack });
    return c.json({ detail: "Internal Server Error" }, 500);
  });
  return app;
};
