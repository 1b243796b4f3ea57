import { legacyKeyOf, type LegacyTarget, pathOf, queryOf } from "../../src/catalogue/index.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { type Core, isBelow, sendOwnError, type Step } from "../../src/gateway/index.ts";
import { exchangeOf, type HttpExchange } from "../../src/operation/index.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { brownoutAnswer } from "./brownoutAnswer.ts";
import { ANONYMOUS, type CallerRequest, listedAgent, type ListClients, openCallers } from "./callers.ts";
import { clientsCsv } from "./console/clientGroups.ts";
import { deprecationHeaders } from "./deprecationHeaders.ts";
import { retirementEvents } from "./events.ts";
import { openFloodWatch, SAMPLED } from "./flood.ts";
import type { RetirementSettings } from "./settings.ts";

/** Paths whose group is remembered, and characters of such a path; a longer path is read each time. */
const MAX_GROUPED = 5000;
const MAX_PATH = 1024;
/** The last time that a Date can have. */
const NEVER = 8.64e15;

/** The settings, prepared for lookups: the longest path first, then the brown-out that ends last. */
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
  core: Pick<Core, "events" | "meter" | "observer">,
  stores: Stores,
  settings: RetirementSettings,
) => {
  const { events, meter, observer } = core;
  const { LEGACY_PATH } = settings;
  const legacyPath = LEGACY_PATH === "/" ? "" : LEGACY_PATH;
  const callers = await openCallers(stores);
  const clients: ListClients = (below) => {
    const all = callers.list();
    return below === undefined ? all : all.filter(({ path }) => isBelow(path, below.replace(/\/$/, "")));
  };
  let inForce = configured(settings);
  let refused = 0;
  meter.total("brownout_answers_total", "Requests that a brown-out answered in legacy's place.", () => refused);
  const begun = new Set<string>();
  const planned = new WeakSet<HttpExchange>();
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
    return entries.find(({ path }) => path === "/" || paths.some((sent) => isBelow(sent, path)));
  };

  const groups = new LRUCache<string, string>({ max: MAX_GROUPED });
  /** The group under which a request is listed, and the query that legacy reads. */
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

  const floods = openFloodWatch((flood) => {
    observer.event("flood", flood);
    events.emit("notice", { type: "traffic.flood", at: new Date().toISOString(), ...flood });
  });
  /** Requests until the next that is counted, which is random among 16: callers may take turns. */
  let untilCounted = SAMPLED;
  let place = SAMPLED - 1;
  /** Counts a request of either interface, which stands for those that are not counted. */
  const countForFlood = (
    exchange: HttpExchange,
    { key, isAccepted, agent }: Omit<CallerRequest, "path">,
    isWhole: boolean,
  ): void => {
    const next = Math.floor(Math.random() * SAMPLED);
    untilCounted = SAMPLED - place + next;
    place = next;
    const { status, cache = "", upstreamCalls, backend } = exchange;
    // The rate limit has refused it.
    if (status === 429 && upstreamCalls === 0) return;
    const known = key === undefined ? ANONYMOUS : callers.callerOf(key, isAccepted);
    const caller = known === ANONYMOUS ? `${exchange.caller?.address} ${listedAgent(agent, key)}`.trim() : known;
    // The cache itself asks for what it lacks. A client that has left does not wait for the end of the call.
    const isAsked = ["miss", "revalidated"].includes(cache) || !isWhole;
    const asked = Math.max(upstreamCalls, isAsked ? 1 : 0);
    floods.count(caller, backend === "modern" ? 0 : asked);
  };

  /** True if the whole interface of legacy is gone for good. */
  const isInterfaceGone = (): boolean =>
    inForce.brownouts.some(
      ({ path, begins, ends }) => ends === NEVER && begins <= Date.now() && (path === "/" || isBelow(legacyPath, path)),
    );

  const step: Step = (_, response, next) => {
    const exchange = exchangeOf(response);
    const brownout = brownoutOf(exchange);
    if (brownout === undefined) return next();
    refused++;
    planned.add(exchange);
    const { path, from, until, status } = brownout;
    const identity = JSON.stringify([path, from, until]);
    if (!begun.has(identity)) observer.event("brownout", { path, from, until, status });
    begun.add(identity);
    sendOwnError(response, brownoutAnswer(brownout, find(inForce.deprecated, exchange)));
  };

  return {
    clients,
    isInterfaceGone,
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
      page: async () => (await import("./console/page.ts")).retirementPage(clients, floods.flood),
    } satisfies ConsolePart,
    step,
    legacyHeaders: (exchange: HttpExchange) => find(inForce.deprecated, exchange)?.headers,
    mayHitOldRead: (exchange: HttpExchange) => brownoutOf(exchange) === undefined,
    isPlanned: (exchange: HttpExchange) => planned.has(exchange),
    onLegacyBody: (req: IncomingMessage, body: string) => void bodies.set(req, body),
    onExchange: (exchange: HttpExchange, response?: ServerResponse): void => {
      if (response === undefined) return;
      const { isProxied, status, cache, owner, endpoint } = exchange;
      const { method, headers } = response.req;
      const agent = headers["user-agent"];
      const isGood = status >= 200 && status < 300;
      const isCounted = --untilCounted === 0;
      const asked = isProxied ? askedBy(exchange) : undefined;
      if (asked === undefined) {
        if (!isCounted) return;
        const key = exchange.caller?.credential.key?.toLowerCase();
        // The website and the documents accept any key.
        return countForFlood(
          exchange,
          { key, isAccepted: isGood && endpoint !== undefined, agent },
          response.writableFinished,
        );
      }
      const key = legacyKeyOf(asked.query, headers["content-type"], bodies.get(response.req) ?? "");
      // During an outage the cache answers any key.
      const isMadeUp = key !== undefined && cache !== undefined && owner === undefined;
      const request: CallerRequest = {
        // Legacy ignores the case of keys.
        key: key?.toLowerCase(),
        // A web server answers TRACE without asking legacy.
        isAccepted: isGood && method !== "TRACE" && !isMadeUp,
        agent,
        path: asked.group,
      };
      callers.count(request);
      if (isCounted) countForFlood(exchange, request, response.writableFinished);
    },
    close() {
      floods.close();
      return callers.close();
    },
    reload(next: RetirementSettings): void {
      inForce = configured(next);
      groups.clear();
    },
  };
};

/** The interface's own names are words. Other segments are values: ids, names, perhaps keys. */
const word = /^[a-z][a-z_.-]{0,23}$/i;

/** The group of a request, in at most three segments: `/api/v1/json/data/61/x` -> `/api/v1/json/data/{id}`. */
const groupOf = ({ segments }: LegacyTarget, legacyPath: string): string =>
  [legacyPath, ...segments.slice(0, 3).map((segment) => (word.test(segment) ? segment : "{id}"))].join("/") || "/";

export const feature = { open, events: retirementEvents };
