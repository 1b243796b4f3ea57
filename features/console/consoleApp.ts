import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { type Invalidation, legacyName } from "../../src/gateway/index.ts";
import { parseJson } from "../../src/catalogue/index.ts";
import { once } from "../../src/operation/index.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { cacheViewOf, type CacheView } from "./cacheView.ts";
import { findStored, MAX_ADDRESS, shownAddress } from "./storedView.ts";
import type { ConsoleCore } from "./consoleCore.ts";

const MAX_BODY_BYTES = 64 * 1024;

/**
 * The operators' interface and page: the core's routes, which `makeApp` makes, and those that features add. `address`:
 * where the new interface is served.
 */
export const consoleApp = (
  core: ConsoleCore,
  parts: readonly ConsolePart[],
  makeApp: (signIn: (c: Context) => Promise<Response>) => Hono,
  address: string,
): Hono => {
  const { cache, observer } = core;
  const endpoints = Object.keys(core.lifetimes);
  const cacheView = () => cacheViewOf(core);

  const loadPage = once(async () => {
    const { openConsolePage } = await import("./page/consolePage.ts");
    const loaded = await Promise.all(parts.flatMap((part) => part.page?.() ?? []));
    return openConsolePage(core, cacheView, loaded, address);
  });

  const app = makeApp(async (c) => {
    const { headers, renderSignIn } = await loadPage();
    return c.html(renderSignIn(), 401, { ...headers, "WWW-Authenticate": "Bearer" });
  });
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => c.json({ detail: "The body is too large." }, 413) }));
  app.get("/cache", async (c) => {
    const url = c.req.query("url");
    if (url === undefined)
      return c.json(Object.assign({}, cacheView(), ...parts.map((part) => part.cacheView?.())) as CacheView);
    const stored = await findStored(core, url);
    return stored.answers === undefined ? c.json({ detail: noRead(stored.url) }, 422) : c.json(stored);
  });
  app.post("/purge", async (c) => {
    const purge = readPurge(await c.req.text(), endpoints);
    if ("detail" in purge) return c.json(purge, 422);
    if ("url" in purge) {
      const purged = { url: shownAddress(purge.url) };
      const removed = await core.stored.remove(purge.url);
      if (removed === "unknown") return c.json({ detail: noRead(purged.url) }, 422);
      observer.event("purged", purged);
      return removed === "removed" ? c.json({ purged }) : c.json({ purged, detail: notAcknowledged }, 202);
    }
    const { invalidation } = purge;
    const { endpoint } = invalidation;
    const ofLegacy = endpoint === undefined ? [] : [{ ...invalidation, endpoint: legacyName(endpoint) }];
    const invalidated = await Promise.all([invalidation, ...ofLegacy].map(async (purged) => cache.invalidate(purged)));
    observer.event("purged", { ...invalidation });
    if (!invalidated.includes(false)) return c.json({ purged: invalidation });
    return c.json({ purged: invalidation, detail: notAcknowledged }, 202);
  });
  for (const part of parts) part.routes?.(app);
  app.get("/", async (c) => {
    const { headers, render } = await loadPage();
    const query = new URL(c.req.url).searchParams;
    const wanted = query.get("stored") ?? "";
    const stored = wanted === "" ? undefined : await findStored(core, wanted);
    return c.html(render(new Date(), query, stored), 200, headers);
  });
  return app;
};

const notAcknowledged = "Purged here. Another gateway, Redis or the disk has not acknowledged it yet.";

const noRead = (url: string): string => `${url} is the address of no read that the cache may answer.`;

const hard = z.boolean().default(false);

/** Purges the answers of an address, of a group such as `dataset/61` or of an endpoint, or all answers. */
const purgeSchema = z.union([
  z.strictObject({ all: z.literal(true), hard }),
  z.strictObject({ group: z.string().min(1).max(200), hard }),
  z.strictObject({ endpoint: z.string(), hard }),
  z.strictObject({ url: z.string().min(1).max(MAX_ADDRESS) }),
]);

/** Reads the body of a purge. It is soft unless `hard`: entries become stale and stay for errors. */
const readPurge = (
  body: string,
  endpoints: readonly string[],
): { invalidation: Invalidation } | { url: string } | { detail: string } => {
  const allowed = `allowed is {"all": true}, {"group": "dataset/61"} or {"endpoint": one of ${endpoints.join(", ")}}, each with "hard": true or without, or {"url": "/v1/datasets/61"}`;
  const json = parseJson(body);
  if (json === undefined) return { detail: `This is no JSON; ${allowed}.` };
  const read = purgeSchema.safeParse(json);
  if (!read.success) return { detail: `This cannot be purged; ${allowed}.` };
  const { data } = read;
  if ("url" in data) return data;
  if ("endpoint" in data && !endpoints.includes(data.endpoint))
    return { detail: `There is no such endpoint; ${allowed}.` };
  const soft = !data.hard;
  if ("all" in data) return { invalidation: { all: true, soft } };
  return { invalidation: "group" in data ? { groups: [data.group], soft } : { endpoint: data.endpoint, soft } };
};
