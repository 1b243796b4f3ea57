import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Core, Feature } from "../../serve/feature.ts";
import type { Migration } from "../migration/migration.ts";
import type { Search } from "../privateDatasets/search.ts";
import type { Retirement } from "../retirement/retirement.ts";
import { guardedApp } from "./guardedApp.ts";
import { kinds, migrationRoutes } from "./migrationRoutes.ts";
import type { CacheView } from "./page/adminPageData.ts";
import { pageRoutes } from "./page/pageRoutes.ts";
import { readPurge } from "./purge.ts";

export type AdminSettings = { host: string; token?: string | undefined };

type Opened = Feature & { migration?: Migration; privateRows?: Search; retirement?: Retirement };

/** What operators see and do; on a listener of its own, never the public one. */
export const adminApp = (core: Core, settings: AdminSettings): Hono => {
  const { cache, meter, observer } = core.services;
  const opened = core.features as readonly Opened[];
  const migration = opened.find((one) => one.migration)?.migration as Migration;
  const privateRows = opened.find((one) => one.privateRows)?.privateRows;
  const clients = opened.find((one) => one.retirement)?.retirement?.clients ?? (() => []);
  const app = guardedApp(settings, observer);
  const endpoints = Object.keys(core.lifetimes);

  const cacheView = (): CacheView => {
    const { bytes, entries, evicted } = cache.size();
    const shared = cache.sharing();
    return {
      bound: { bytes: core.settings.CACHE_BYTES, entryBytes: core.settings.CACHE_ENTRY_BYTES },
      bytes,
      entries,
      evicted,
      ...(shared === undefined ? {} : { shared }),
      windows: core.lifetimes,
      ...(privateRows === undefined ? {} : { privateRows: privateRows.state() }),
    };
  };

  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    if (core.isStopping()) return c.json({ status: "stopping" }, 503);
    return !(await core.dispatches()) ? c.json({ status: "stuck" }, 503) : c.json({ status: "ready" });
  });
  app.get("/metrics", async (c) =>
    c.body(await meter.registry.metrics(), 200, { "Content-Type": meter.registry.contentType }),
  );
  app.get("/cache", (c) => c.json(cacheView()));
  app.get("/clients", (c) => c.json(clients(c.req.query("path"))));
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

  pageRoutes(app, () => ({
    stages: migration.view(),
    differences: kinds.flatMap((kind) => migration.differences(kind)),
    audit: migration.audit(),
    clients: clients(),
    expected: migration.expected(),
    hasModern: migration.hasModern,
    cache: cacheView(),
  }));
  return app;
};

const tooLarge = (c: Context) => c.json({ detail: "The body is too large." }, 413);
