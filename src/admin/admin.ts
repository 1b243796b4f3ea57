import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { DeclaredWindows } from "../cache/windows.ts";
import type { Machine } from "../gateway/machine.ts";
import { migrationRoutes } from "./migrationRoutes.ts";
import type { ClientView } from "../migration/views.ts";
import { guard } from "./guard.ts";
import { signInRefusal } from "./page/pageRoutes.ts";
import { readPurge } from "./purge.ts";

export type AdminSettings = {
  host: string;
  token?: string | undefined;
  /** By endpoint, as they are in force. */
  windows: Readonly<Record<string, DeclaredWindows>>;
  bytes: number;
  entryBytes: number;
  /** Who still calls the legacy interface, and what of it. */
  clients: (below?: string) => ClientView[];
  /** False while the gateway stops. */
  isReady: () => boolean;
};

/** What operators see and do; on a listener of its own, never the public one. */
export const adminApp = ({ cache, meter, migration, observer }: Machine, settings: AdminSettings): Hono => {
  const app = new Hono();
  const refusalOf = guard(settings);
  const endpoints = Object.keys(settings.windows);

  app.use(async (c, next): Promise<Response | undefined> => {
    const header = (name: string) => c.req.header(name);
    const refusal = refusalOf({
      method: c.req.method,
      host: header("host"),
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
    c.header("Cache-Control", "no-store");
    return undefined;
  });

  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => (settings.isReady() ? c.json({ status: "ready" }) : c.json({ status: "stopping" }, 503)));
  app.get("/metrics", async (c) =>
    c.body(await meter.registry.metrics(), 200, { "Content-Type": meter.registry.contentType }),
  );
  app.get("/cache", (c) => {
    const { bytes, entries, evicted } = cache.size();
    const shared = cache.sharing();
    return c.json({
      bound: { bytes: settings.bytes, entryBytes: settings.entryBytes },
      bytes,
      entries,
      evicted,
      ...(shared === undefined ? {} : { shared }),
      windows: settings.windows,
    });
  });
  app.get("/clients", (c) => c.json(settings.clients(c.req.query("path"))));
  app.post("/purge", bodyLimit({ maxSize: 64 * 1024, onError: (c) => tooLarge(c) }), async (c) => {
    const purge = readPurge(await c.req.text(), endpoints);
    if ("problem" in purge) return c.json({ detail: purge.problem }, 422);
    await cache.drop(purge.drop);
    observer.log.info({ event: "purged", ...purge.drop });
    return c.json({ purged: purge.drop });
  });

  app.use("/stages/*", bodyLimit({ maxSize: 64 * 1024, onError: (c) => tooLarge(c) }));
  app.use("/expected", bodyLimit({ maxSize: 64 * 1024, onError: (c) => tooLarge(c) }));
  app.route("/", migrationRoutes(migration, observer));

  app.notFound((c) => c.json({ detail: "Not Found" }, 404));
  app.onError((error, c) => {
    observer.log.error({ event: "internal_error", error: error.stack });
    return c.json({ detail: "Internal Server Error" }, 500);
  });
  return app;
};

const tooLarge = (c: Context) => c.json({ detail: "The body is too large." }, 413);
