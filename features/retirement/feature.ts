import { legacyKeyOf, type LegacyTarget, pathOf, queryOf } from "../../src/catalogue/index.ts";
import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { type Core, type Feature, isBelow, sendOwnError } from "../../src/gateway/index.ts";
import { exchangeOf, type HttpExchange } from "../../src/operation/index.ts";
import { storesOf } from "../../libraries/stores/storesOf.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { brownoutAnswer } from "./brownoutAnswer.ts";
import { type ListClients, openCallers } from "./callers.ts";
import { clientsCsv } from "./console/clientGroups.ts";
import { deprecationHeaders } from "./deprecationHeaders.ts";
import { retirementEvents } from "./events.ts";
import type { RetirementSettings } from "./settings.ts";

/** Paths whose group is remembered; a longer one is read each time. */
const MAX_GROUPED = 5000;
const MAX_PATH = 1024;
/** The last time that a Date can have. */
const NEVER = 8.64e15;

/** The settings, prepared for lookups: the longest path first, of brown-outs then the one that ends last. */
const configured = ({ DEPRECATED, BROWNOUTS }: Pick<RetirementSettings, "DEPRECATED" | "BROWNOUTS">) => ({
  deprecated: DEPRECATED.map((path) => ({ ...path, headers: deprecationHeaders(path) })).toSorted(byLength),
  brownouts: BROWNOUTS.map((brownout) => ({
    ...brownout,
    begins: Date.parse(brownout.from),
    ends: brownout.until === undefined ? NEVER : Date.parse(brownout.until),
  })).toSorted((a, b) => byLength(a, b) || b.ends - a.ends),
});

const byLength = (a: { path: string }, b: { path: string }): number => b.path.length - a.path.length;

/** Deprecation headers and brown-outs for legacy paths, and a list of the callers of the legacy interface. */
const open = async (
  core: Pick<Core, "features" | "meter" | "observer">,
  settings: RetirementSettings,
): Promise<Feature<ConsolePart> & { clients: ListClients }> => {
  const { meter, observer } = core;
  const { LEGACY_PATH } = settings;
  const legacyPath = LEGACY_PATH === "/" ? "" : LEGACY_PATH;
  const callers = await openCallers(storesOf(core));
  const clients: ListClients = (below) => {
    const all = callers.list();
    return below === undefined ? all : all.filter(({ path }) => isBelow(path, below.replace(/\/$/, "")));
  };
  let inForce = configured(settings);
  let refused = 0;
  meter.total("brownout_answers_total", "Requests that a brown-out answered in legacy's place.", () => refused);
  const begun = new Set<string>();
  /** The beginning of a request's body, which may hold its key. */
  const bodies = new WeakMap<IncomingMessage, string>();

  /** The first entry for a request, as legacy reads it or as it was sent: an alias may be configured separately. */
  const find = <T extends { path: string }>(
    entries: readonly T[],
    exchange: Pick<HttpExchange, "target" | "url">,
  ): T | undefined => {
    if (entries.length === 0) return undefined;
    const { target, url = "/" } = exchange;
    const paths = [target?.path ?? "", pathOf(url).replaceAll(/\/{2,}/g, "/")];
    return entries.find(({ path }) => path === "/" || paths.some((one) => isBelow(one, path)));
  };

  const groups = new LRUCache<string, string>({ max: MAX_GROUPED });
  /** What a request asks for, as the clients are listed by, and the query that legacy reads. */
  const askedBy = (exchange: HttpExchange): { group: string; query: string } | undefined => {
    const { url = "/" } = exchange;
    const path = pathOf(url);
    const query = queryOf(url);
    const known = groups.get(path);
    // A query may hold the path.
    if (known !== undefined && !query.startsWith("/")) return { group: known, query };
    const { target: legacy } = exchange;
    if (legacy === undefined) return undefined;
    const group = find(inForce.deprecated, exchange)?.path ?? groupOf(legacy, legacyPath);
    if (path.length <= MAX_PATH && !query.startsWith("/")) groups.set(path, group);
    return { group, query: legacy.query };
  };

  const brownoutOf = (exchange: HttpExchange) => {
    if (inForce.brownouts.length === 0) return undefined;
    const now = Date.now();
    const on = inForce.brownouts.filter(({ begins, ends }) => begins <= now && now < ends);
    return find(on, exchange);
  };

  /** Whether the whole interface of legacy is gone for good. */
  const isInterfaceGone = (): boolean =>
    inForce.brownouts.some(
      ({ path, begins, ends }) => ends === NEVER && begins <= Date.now() && (path === "/" || isBelow(legacyPath, path)),
    );

  return {
    clients,
    replaces: () => (isInterfaceGone() ? "interface" : undefined),
    console: {
      routes(app) {
        app.get("/clients", (c) => c.json(clients(c.req.query("path"))));
        app.get("/clients.csv", (c) =>
          c.body(clientsCsv(clients(c.req.query("path"))), 200, {
            "Content-Type": "text/csv; charset=utf-8",
            "Content-Disposition": 'attachment; filename="clients.csv"',
          }),
        );
      },
      page: async () => (await import("./console/page.ts")).retirementPage(clients),
    },
    step: {
      before: "passThrough",
      answer(_, response, next) {
        const exchange = exchangeOf(response);
        const brownout = brownoutOf(exchange);
        if (brownout === undefined) return next();
        refused++;
        const { path, from, until, status } = brownout;
        const identity = JSON.stringify([path, from, until]);
        if (!begun.has(identity)) observer.event("brownout", { path, from, until, status });
        begun.add(identity);
        sendOwnError(response, brownoutAnswer(brownout, find(inForce.deprecated, exchange)));
      },
    },
    proxy: {
      headers: (exchange) => find(inForce.deprecated, exchange)?.headers,
      mayHitPathAnswer: (exchange) => brownoutOf(exchange) === undefined,
      onBody: (req, body) => void bodies.set(req, body),
    },
    onExchange(exchange, response) {
      const { isProxied, status, cache, owner } = exchange;
      if (!isProxied || response === undefined) return;
      const { method, headers } = response.req;
      const asked = askedBy(exchange);
      if (asked === undefined) return;
      const key = legacyKeyOf(asked.query, headers["content-type"], bodies.get(response.req) ?? "");
      // In an outage the cache answers any key.
      const isMadeUp = key !== undefined && cache !== undefined && owner === undefined;
      callers.count({
        // Legacy ignores the case of keys.
        key: key?.toLowerCase(),
        // A web server answers TRACE by itself.
        isAccepted: status >= 200 && status < 300 && method !== "TRACE" && !isMadeUp,
        agent: headers["user-agent"],
        path: asked.group,
      });
    },
    close: () => callers.close(),
    reload(next) {
      inForce = configured(next as RetirementSettings);
      groups.clear();
    },
  };
};

/** The interface's own names are words. Other segments are values: ids, names, perhaps keys. */
const word = /^[a-z][a-z_.-]{0,23}$/i;

/** What a request asks for, in at most three segments: `/api/v1/json/data/61/x` -> `/api/v1/json/data/{id}`. */
const groupOf = ({ segments }: LegacyTarget, legacyPath: string): string =>
  [legacyPath, ...segments.slice(0, 3).map((segment) => (word.test(segment) ? segment : "{id}"))].join("/") || "/";

export const feature = { open, events: retirementEvents };
