import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type DeclaredLifetimes, windowsOf } from "../../cache/lifetimes.ts";
import type { Services } from "../../serve/services.ts";
import type { ClientView } from "../migration/views.ts";
import { guardedApp } from "./guardedApp.ts";
import { kinds, migrationRoutes } from "./migrationRoutes.ts";
import type { CacheView } from "./page/adminPageData.ts";
import { pageRoutes } from "./page/pageRoutes.ts";
import { readPurge } from "./purge.ts";

export type AdminSettings = {
  host: string;
  token?: string | undefined;
  /** By endpoint, as they are in force. */
  windows: Readonly<Record<string, DeclaredLifetimes>>;
  bytes: number;
  entryBytes: number;
  /** Who still calls the legacy interface, and what of it. */
  clients: (below?: string) => ClientView[];
  /** False while the gateway stops. */
  isReady: () => boolean;
  /** False where requests do not get to the connections to legacy any more. */
  dispatches?: () => Promise<boolean>;
};

/** What operators see and do; on a listener of its own, never the public one. */
export const adminApp = (
  { cache, meter, migration, observer, privateRows }: Services,
  settings: AdminSettings,
): Hono => {
  const app = guardedApp(settings, observer);
  const endpoints = Object.keys(settings.windows);

  const cacheView = (): CacheView => {
    const { bytes, entries, evicted } = cache.size();
    const shared = cache.sharing();
    return {
      bound: { bytes: settings.bytes, entryBytes: settings.entryBytes },
      bytes,
      entries,
      evicted,
      ...(shared === undefined ? {} : { shared }),
      windows: Object.fromEntries(
        endpoints.map((name) => [name, windowsOf(settings.windows[name] as DeclaredLifetimes)]),
      ),
      ...(privateRows === undefined ? {} : { privateRows: privateRows.state() }),
    };
  };

  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    if (!settings.isReady()) return c.json({ status: "stopping" }, 503);
    return (await settings.dispatches?.()) === false ? c.json({ status: "stuck" }, 503) : c.json({ status: "ready" });
  });
  app.get("/metrics", async (c) =>
    c.body(await meter.registry.metrics(), 200, { "Content-Type": meter.registry.contentType }),
  );
  app.get("/cache", (c) => c.json(cacheView()));
  app.get("/clients", (c) => c.json(settings.clients(c.req.query("path"))));
  app.post("/purge", bodyLimit({ maxSize: 64 * 1024, onError: (c) => tooLarge(c) }), async (c) => {
    const purge = readPurge(await c.req.text(), endpoints);
    if ("problem" in purge) return c.json({ detail: purge.problem }, 422);
    await cache.invalidate(purge.drop);
    observer.log.info({ event: "purged", ...purge.drop });
    return c.json({ purged: purge.drop });
  });

  app.use("/stages/*", bodyLimit({ maxSize: 64 * 1024, onError: (c) => tooLarge(c) }));
  app.use("/expected", bodyLimit({ maxSize: 64 * 1024, onError: (c) => tooLarge(c) }));
  app.route("/", migrationRoutes(migration, observer));

  pageRoutes(app, () => ({
    stages: migration.view(),
    differences: kinds.flatMap((kind) => migration.differences(kind)),
    audit: migration.audit(),
    clients: settings.clients(),
    expected: migration.expected(),
    hasModern: migration.hasModern,
    cache: cacheView(),
  }));
  return app;
};

const tooLarge = (c: Context) => c.json({ detail: "The body is too large." }, 413);
