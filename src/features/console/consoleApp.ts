import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Cache } from "../../cache/cache.ts";
import type { DeclaredLifetimes } from "../../cache/lifetimes.ts";
import type { Meter } from "../../telemetry/meter.ts";
import type { Observer } from "../../telemetry/observer.ts";
import type { ConsolePart } from "../../ui/consolePart.ts";
import { guardMiddleware } from "./guard.ts";
import type { ConsolePage } from "./page/consolePage.ts";
import { readPurge } from "./purge.ts";

const MAX_BODY_BYTES = 64 * 1024;

/** What the core tells operators: the cache, metrics, and whether the gateway is ready. */
export type ConsoleSettings = {
  /** The address of the listener; the guard accepts it as a host name. */
  host: string;
  /** Without one, every request from an accepted host is let in. */
  token?: string | undefined;
  /** The lifetimes of answers in force, by endpoint. */
  windows: Readonly<Record<string, DeclaredLifetimes>>;
  /** The most bytes that the cache takes, and the most of one entry. */
  bytes: number;
  entryBytes: number;
  /** False while the gateway stops. */
  isReady: () => boolean;
  /** False where requests no longer reach the connections to legacy. */
  dispatches?: () => Promise<boolean>;
};

type Core = { cache: Pick<Cache, "size" | "sharing" | "drop">; meter: Pick<Meter, "registry">; observer: Observer };

/** What `GET /cache` answers, besides the members that parts add. */
export type CacheView = ReturnType<typeof cacheViewOf>;

const cacheViewOf = (cache: Core["cache"], { windows, bytes: bound, entryBytes }: ConsoleSettings) => {
  const { bytes, entries, evicted } = cache.size();
  const shared = cache.sharing();
  return { bound: { bytes: bound, entryBytes }, bytes, entries, evicted, ...(shared && { shared }), windows };
};

/** The operators' interface and page, on a listener of its own: what the core tells, and what `parts` add. */
export const consoleApp = (
  { cache, meter, observer }: Core,
  { parts, ...settings }: ConsoleSettings & { parts: readonly ConsolePart[] },
): Hono => {
  const app = new Hono();
  const endpoints = Object.keys(settings.windows);

  const cacheView = () => cacheViewOf(cache, settings);
  let page: Promise<ConsolePage> | undefined;
  const loadPage = async (): Promise<ConsolePage> => {
    const { openConsolePage } = await import("./page/consolePage.ts");
    const loaded = await Promise.all(parts.flatMap((part) => part.page?.() ?? []));
    return openConsolePage(cacheView, loaded);
  };
  /** Loads the page with its first request. A failure is tried again with the next one. */
  const send = async (c: Context, name: "page" | "signIn"): Promise<Response> => {
    page ??= loadPage().catch((error: unknown) => {
      page = undefined;
      throw error;
    });
    const { headers, render } = await page;
    return name === "page"
      ? c.html(render.page(new Date()), 200, headers)
      : c.html(render.signIn(), 401, { ...headers, "WWW-Authenticate": "Bearer" });
  };

  app.use(guardMiddleware(settings, (c) => send(c, "signIn")));
  app.notFound((c) => c.json({ detail: "Not Found" }, 404));
  app.onError((error, c) => {
    observer.event("internal_error", { error: error.stack });
    return c.json({ detail: "Internal Server Error" }, 500);
  });
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => c.json({ detail: "The body is too large." }, 413) }));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    if (!settings.isReady()) return c.json({ status: "stopping" }, 503);
    return (await settings.dispatches?.()) === false ? c.json({ status: "stuck" }, 503) : c.json({ status: "ready" });
  });
  app.get("/metrics", async (c) =>
    c.body(await meter.registry.metrics(), 200, { "Content-Type": meter.registry.contentType }),
  );
  app.get("/cache", (c) =>
    c.json(Object.assign({}, cacheView(), ...parts.map((part) => part.cacheView?.())) as CacheView),
  );
  app.post("/purge", async (c) => {
    const purge = readPurge(await c.req.text(), endpoints);
    if (!purge.ok) return c.json({ detail: purge.detail }, 422);
    await cache.drop(purge.invalidation);
    observer.log.info({ event: "purged", ...purge.invalidation });
    return c.json({ purged: purge.invalidation });
  });
  for (const part of parts) part.routes?.(app);
  app.get("/", (c) => send(c, "page"));
  return app;
};
