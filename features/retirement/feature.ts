import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { legacyKeyOf, type LegacyTarget, pathOf, queryOf } from "../../src/catalogue/index.ts";
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

type RetiringCore = Pick<Core, "events" | "keys" | "meter" | "observer">;

/** Deprecation headers and brown-outs for legacy paths, and a list of the callers of the legacy interface. */
const open = async (core: RetiringCore, stores: Stores, settings: RetirementSettings) => {
  const { meter, observer } = core;
  const { LEGACY_PATH } = settings;
  const paths = openRetiredPaths(LEGACY_PATH === "/" ? "" : LEGACY_PATH, settings);
  const callers = await openCallers(stores);
  const clients: ListClients = (below) => {
    const all = callers.list();
    return below === undefined ? all : all.filter(({ path }) => isBelow(path, below.replace(/\/$/, "")));
  };
  const { onLegacyBody, onExchange, floods } = openRequestCounts(core, paths, callers);
  let refused = 0;
  meter.total("brownout_answers_total", "Requests that a brown-out answered in legacy's place.", () => refused);
  const begun = new Set<string>();
  const planned = new WeakSet<HttpExchange>();

  const step: Step = (_, response, next) => {
    const exchange = exchangeOf(response);
    const brownout = paths.brownoutOf(exchange);
    if (brownout === undefined) return next();
    refused++;
    planned.add(exchange);
    const { path, from, until, status } = brownout;
    const identity = JSON.stringify([path, from, until]);
    if (!begun.has(identity)) observer.event("brownout", { path, from, until, status });
    begun.add(identity);
    sendOwnError(response, brownoutAnswer(brownout, paths.deprecationOf(exchange)));
  };

  return {
    clients,
    isInterfaceGone: paths.isInterfaceGone,
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
    legacyHeaders: paths.headersOf,
    mayHitOldRead: (exchange: HttpExchange) => paths.brownoutOf(exchange) === undefined,
    isPlanned: (exchange: HttpExchange) => planned.has(exchange),
    onLegacyBody,
    onExchange,
    close() {
      floods.close();
      return callers.close();
    },
    reload: paths.reload,
  };
};

/** Paths whose group is remembered, and characters of such a path; a longer path is read each time. */
const MAX_GROUPED = 5000;
const MAX_PATH = 1024;
/** The last time that a Date can have. */
const NEVER = 8.64e15;

type PathSettings = Pick<RetirementSettings, "DEPRECATED" | "BROWNOUTS">;

/** The settings, prepared for lookups: the longest path first, then the brown-out that ends last. */
const configured = ({ DEPRECATED, BROWNOUTS }: PathSettings) => ({
  deprecated: DEPRECATED.map((path) => ({ ...path, headers: deprecationHeaders(path) })).toSorted(byLength),
  brownouts: BROWNOUTS.map((brownout) => ({
    ...brownout,
    begins: Date.parse(brownout.from),
    ends: brownout.until === undefined ? NEVER : Date.parse(brownout.until),
  })).toSorted((a, b) => byLength(a, b) || b.ends - a.ends),
});

const byLength = (a: { path: string }, b: { path: string }): number => b.path.length - a.path.length;

/** Opens the lookup of a request's path in the settings. `legacyPath`: where legacy's interface lies; empty: at `/`. */
const openRetiredPaths = (legacyPath: string, settings: PathSettings) => {
  let inForce = configured(settings);
  const groups = new LRUCache<string, string>({ max: MAX_GROUPED });

  const deprecationOf = (exchange: HttpExchange) => find(inForce.deprecated, exchange);
  return {
    /** The deprecation of a request's path, and its headers, flat. */
    deprecationOf,
    headersOf: (exchange: HttpExchange): readonly string[] | undefined => find(inForce.deprecated, exchange)?.headers,
    /** The brown-out that answers a request now. */
    brownoutOf(exchange: HttpExchange) {
      if (inForce.brownouts.length === 0) return undefined;
      const now = Date.now();
      const on = inForce.brownouts.filter(({ begins, ends }) => begins <= now && now < ends);
      return find(on, exchange);
    },
    /** True if the whole interface of legacy is gone for good. */
    isInterfaceGone: (): boolean =>
      inForce.brownouts.some(
        ({ path, begins, ends }) =>
          ends === NEVER && begins <= Date.now() && (path === "/" || isBelow(legacyPath, path)),
      ),
    /** The group under which a request is listed, and the query that legacy reads; `undefined`: it is not legacy's. */
    groupOf(exchange: HttpExchange): { group: string; query: string } | undefined {
      const { url = "/" } = exchange;
      const path = pathOf(url);
      const query = queryOf(url);
      const known = groups.get(path);
      // A query may hold the path.
      if (known !== undefined && !query.startsWith("/")) return { group: known, query };
      const { target } = exchange;
      if (target === undefined) return undefined;
      const group = deprecationOf(exchange)?.path ?? groupIn(target, legacyPath);
      if (path.length <= MAX_PATH && !query.startsWith("/")) groups.set(path, group);
      return { group, query: target.query };
    },
    reload: (next: PathSettings): void => {
      inForce = configured(next);
      groups.clear();
    },
  };
};

/** The first entry for a request, as legacy reads it or as it was sent: an alias may be configured separately. */
const find = <T extends { path: string }>(entries: readonly T[], exchange: HttpExchange): T | undefined => {
  if (entries.length === 0) return undefined;
  const { target, url = "/" } = exchange;
  const paths = [target?.path ?? "", pathOf(url).replaceAll(/\/{2,}/g, "/")];
  return entries.find(({ path }) => path === "/" || paths.some((sent) => isBelow(sent, path)));
};

/** The interface's own names are words. Other segments are values: ids, names, perhaps keys. */
const word = /^[a-z][a-z_.-]{0,23}$/i;

/** The group of a request, in at most three segments: `/api/v1/json/data/61/x` -> `/api/v1/json/data/{id}`. */
const groupIn = ({ segments }: LegacyTarget, legacyPath: string): string =>
  [legacyPath, ...segments.slice(0, 3).map((segment) => (word.test(segment) ? segment : "{id}"))].join("/") || "/";

/**
 * Opens the counting of requests by their callers: each request of the legacy interface for the list of callers, a
 * sample of both interfaces for floods.
 */
const openRequestCounts = (
  { events, keys, observer }: RetiringCore,
  paths: ReturnType<typeof openRetiredPaths>,
  callers: Awaited<ReturnType<typeof openCallers>>,
) => {
  const floods = openFloodWatch((flood) => {
    observer.event("flood", flood);
    events.emit("notice", { type: "traffic.flood", at: new Date().toISOString(), ...flood });
  });
  /** The beginning of a request's body, which may hold its key. */
  const bodies = new WeakMap<IncomingMessage, string>();
  /** Requests until the next of the sample, whose place among 16 is random: callers may take turns. */
  let untilSampled = SAMPLED;
  let place = SAMPLED - 1;

  /** Counts a request, which stands for those that are not in the sample. `isWhole`: its answer was sent whole. */
  const countForFlood = (
    exchange: HttpExchange,
    { key, isAccepted, agent }: Omit<CallerRequest, "path">,
    isWhole: boolean,
  ): void => {
    const next = Math.floor(Math.random() * SAMPLED);
    untilSampled = SAMPLED - place + next;
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

  return {
    floods,
    onLegacyBody: (request: IncomingMessage, body: string): void => void bodies.set(request, body),
    onExchange: (exchange: HttpExchange, response?: ServerResponse): void => {
      if (response === undefined) return;
      const { isProxied, status, cache, endpoint } = exchange;
      const { method, headers } = response.req;
      const agent = headers["user-agent"];
      const isGood = status >= 200 && status < 300;
      const isSampled = --untilSampled === 0;
      const listed = isProxied ? paths.groupOf(exchange) : undefined;
      if (listed === undefined) {
        if (!isSampled) return;
        const key = exchange.caller?.credential.key;
        // The website and the documents accept any key.
        const isAccepted = isGood && endpoint !== undefined;
        return countForFlood(exchange, { key, isAccepted, agent }, response.writableFinished);
      }
      const key = legacyKeyOf(listed.query, headers["content-type"], bodies.get(response.req) ?? "");
      // During an outage the cache answers any key.
      const isMadeUp = key !== undefined && cache !== undefined && !keys.wasAccepted(exchange.caller?.id);
      // A web server answers TRACE without asking legacy.
      const isAccepted = isGood && method !== "TRACE" && !isMadeUp;
      const request = { key, isAccepted, agent, path: listed.group };
      callers.count(request);
      if (isSampled) countForFlood(exchange, request, response.writableFinished);
    },
  };
};

export const feature = { open, events: retirementEvents };
