import type { RequestListener } from "node:http";
import type { Guard } from "../../src/gateway/http/guard.ts";
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { legacyName } from "../../src/gateway/cache/cacheRequest.ts";
import type { Invalidation } from "../../src/gateway/cache/sharedTier.ts";
import { parseJson } from "../../src/catalogue/rules/parseJson.ts";
import type { Core, Feature } from "../../src/gateway/answer/feature.ts";
import { once } from "../../src/operation/limits/once.ts";
import { writeExposition } from "../../src/operation/telemetry/exposition.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { cacheViewOf, type CacheView } from "./cacheView.ts";
import { guardMiddleware, type GuardSettings } from "./guard.ts";
import type { ConsolePage } from "./page/consolePage.ts";

const MAX_BODY_BYTES = 64 * 1024;

const OPEN_METRICS = "application/openmetrics-text";
const TEXT = "text/plain";

/** The operators' interface and page: the core's routes, and those that features add. `address`: where the new interface is served. */
export const consoleApp = (core: Core, guard: GuardSettings, address: string): Hono => {
  const { cache, meter, dependencies, observer } = core;
  const parts = (core.features as readonly Feature<ConsolePart>[]).flatMap(({ console }) => console ?? []);
  const endpoints = Object.keys(core.lifetimes);
  const app = new Hono();
  const cacheView = () => cacheViewOf(core);

  const loadPage = once(async (): Promise<ConsolePage> => {
    const { openConsolePage } = await import("./page/consolePage.ts");
    const loaded = await Promise.all(parts.flatMap((part) => part.page?.() ?? []));
    return openConsolePage(core, cacheView, loaded, address);
  });
  const send = async (c: Context, name: "page" | "signIn"): Promise<Response> => {
    const { headers, render } = await loadPage();
    return name === "page"
      ? c.html(render.page(new Date(), new URL(c.req.url).searchParams), 200, headers)
      : c.html(render.signIn(), 401, { ...headers, "WWW-Authenticate": "Bearer" });
  };

  app.use(guardMiddleware(guard, (c) => send(c, "signIn")));
  app.notFound((c) => c.json({ detail: "Not Found" }, 404));
  app.onError((error, c) => {
    observer.fault(error);
    return c.json({ detail: "Internal Server Error" }, 500);
  });
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => c.json({ detail: "The body is too large." }, 413) }));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => {
    // A dependency that fails leaves the gateway ready: the cache still answers.
    const status = core.isStopping() ? "stopping" : "ready";
    const verbose = c.req.query("verbose") === undefined ? {} : { dependencies: dependencies.states() };
    return c.json({ status, ...verbose }, status === "ready" ? 200 : 503);
  });
  app.get("/metrics", async (c) => {
    const isOpenMetrics =
      accepts(c, { header: "Accept", supports: [OPEN_METRICS, TEXT], default: TEXT }) === OPEN_METRICS;
    const { contentType, body } = await writeExposition(await meter.read(), isOpenMetrics);
    return c.body(body, 200, { "Content-Type": contentType });
  });
  app.get("/cache", (c) =>
    c.json(Object.assign({}, cacheView(), ...parts.map((part) => part.cacheView?.())) as CacheView),
  );
  app.post("/purge", async (c) => {
    const purge = readPurge(await c.req.text(), endpoints);
    if (!purge.ok) return c.json({ detail: purge.detail }, 422);
    const { invalidation } = purge;
    const { endpoint } = invalidation;
    const ofLegacy = endpoint === undefined ? [] : [{ ...invalidation, endpoint: legacyName(endpoint) }];
    const invalidated = await Promise.all([invalidation, ...ofLegacy].map(async (one) => cache.invalidate(one)));
    observer.event("purged", { ...invalidation });
    if (!invalidated.includes(false)) return c.json({ purged: invalidation });
    const detail = "Purged here. Another gateway, or Redis, has not acknowledged it yet.";
    return c.json({ purged: invalidation, detail }, 202);
  });
  for (const part of parts) part.routes?.(app);
  app.get("/", (c) => send(c, "page"));
  return app;
};

const hard = z.boolean().default(false);

/** Purges everything, a group such as `dataset/61`, or all answers of an endpoint. */
const purgeSchema = z.union([
  z.strictObject({ all: z.literal(true), hard }),
  z.strictObject({ group: z.string().min(1).max(200), hard }),
  z.strictObject({ endpoint: z.string(), hard }),
]);

/** Reads the body of a purge. It is soft unless `hard`: entries become stale and stay for errors. */
const readPurge = (
  body: string,
  endpoints: readonly string[],
): { ok: true; invalidation: Invalidation } | { ok: false; detail: string } => {
  const allowed = `allowed is {"all": true}, {"group": "dataset/61"} or {"endpoint": one of ${endpoints.join(", ")}}, each with "hard": true or without`;
  const given = parseJson(body);
  if (given === undefined) return { ok: false, detail: `This is no JSON; ${allowed}.` };
  const read = purgeSchema.safeParse(given);
  if (!read.success) return { ok: false, detail: `This cannot be purged; ${allowed}.` };
  const { data } = read;
  if ("endpoint" in data && !endpoints.includes(data.endpoint))
    return { ok: false, detail: `There is no such endpoint; ${allowed}.` };
  const soft = !data.hard;
  if ("all" in data) return { ok: true, invalidation: { all: true, soft } };
  return {
    ok: true,
    invalidation: "group" in data ? { groups: [data.group], soft } : { endpoint: data.endpoint, soft },
  };
};

/** What answers requests by this app. `fail` gets what it throws beside its own handling of errors. */
export const consoleListener = (
  app: Hono,
  fail: Guard["fail"] = (response) => void response.destroy(),
): RequestListener => {
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false, hostname: "localhost" });
  return (request, response) => {
    answer(request, response).catch((error: unknown) => fail(response, error));
  };
};
