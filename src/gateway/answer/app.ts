import { pathOf, unescaped } from "../../catalogue/index.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { TrieRouter } from "hono/router/trie-router";
import type { CacheKey } from "../cache/cacheRequest.ts";
import { type Reply, replyWith } from "../cache/reply.ts";
import { answerResultOf, openHolding } from "../../operation/index.ts";
import { corsList, preflightHeaders } from "../http/cors.ts";
import { internalError } from "../http/guard.ts";
import { sendWhole } from "../http/httpServer.ts";
import type { OwnError } from "../http/ownErrors.ts";
import { isBelow } from "../http/requestTarget.ts";
import { isLoop } from "../upstream/forwarding.ts";
import { legacyDecision } from "../cache/served.ts";
import { type Handler, fromNode, fromWeb, type Received } from "./context.ts";
import type { Dialect, HitPath } from "./dialect.ts";
import { newInterface } from "./hitPath.ts";
import { type PreparedEndpoint, allowed, type Pattern, patterns } from "./prepared.ts";
import { inputOf, inputOfPath } from "./requestInput.ts";
import { serve } from "./serve.ts";
import { type Candidate, suggestPath } from "./suggestPath.ts";
import type { Additions } from "./additions.ts";
import type { WholeCore } from "./core.ts";

type AppCore = WholeCore &
  Pick<Additions, "decide" | "documents"> & {
    handler: Handler;
    hitPath: HitPath;
  };

/** The new interface, for requests from sockets and from this process. */
export type App = ReturnType<typeof gatewayApp>;

/**
 * A reply, and functions to call once it has been sent. `isSent` is false if other clients'
 * bytes left no room for it.
 */
type Handled = { reply: Reply; afterwards?: (() => void) | undefined; sent?: (isSent: boolean) => void };
/** Answers one request of one route; `params` are the segments that the route names, as they were sent. */
type RouteHandler = (received: Received, params: Readonly<Record<string, string>>) => Handled | Promise<Handled>;
/** A route. `asksFor`: its endpoint, and the path before its pairs of filters; absent if it only refuses. */
type AppRoute = { handle: RouteHandler; asksFor?: { endpoint: PreparedEndpoint; pairsBelow: string | undefined } };

/** The new interface, below each of its prefixes. */
export const gatewayApp = (core: AppCore) => {
  const { endpoints, memory, observer, trusted } = core;
  const { PREFIXES: prefixes } = core.settings;
  const known = patterns(endpoints);
  const router = routerOf(known, core);
  const candidates = [...known, ...documentPaths(core).map((path) => ({ path }))];

  /** `undefined` if the request belongs to the legacy interface. */
  const answer = async (received: Received): Promise<Handled | undefined> => {
    const path = pathOf(received.target);
    const [[[route, params = {}] = []]] = router.match(received.method === "HEAD" ? "GET" : received.method, path);
    if (route !== undefined) return route.handle(received, paramsOf(params));
    const prefix = prefixes.find((configured) => configured !== "/" && isBelow(path, configured));
    if (prefix !== undefined) return refuse(core, received, notFoundBelow(prefix, path, candidates));
    return received.incoming === undefined ? refuse(core, received, notFound) : undefined;
  };

  const failed = (received: Received, error: unknown): Handled => {
    observer.fault(error);
    return { reply: errorReply(core, received, internalError) };
  };

  const app = {
    /**
     * Answers a request that Node has read, or calls `next` where no route below a prefix of `/` does. Rejects only
     * where the answer to a failure fails, too.
     */
    async handle(incoming: IncomingMessage, outgoing: ServerResponse, next: () => void): Promise<void> {
      const holding = openHolding(memory, true);
      const received = fromNode(incoming, outgoing, holding, trusted);
      const answered = await answer(received).catch((error: unknown) =>
        // A client that leaves in the middle of its body is not an error.
        incoming.destroyed && !incoming.complete ? "left" : failed(received, error),
      );
      try {
        if (answered === "left") return;
        if (answered === undefined) return next();
        // The caller comes first: sides are compared after the answer has been sent.
        if (answered.afterwards) outgoing.once("close", answered.afterwards);
        const isSent = sendWhole(outgoing, answered.reply, holding);
        answered.sent?.(isSent);
      } catch (error) {
        const { reply } = failed(received, error);
        if (outgoing.headersSent) outgoing.destroy();
        else sendWhole(outgoing, reply);
      } finally {
        holding.close();
      }
    },
    /**
     * Answers a request of a program in this process. `incoming`: a request of Node's that has the target and headers,
     * where there is one.
     */
    async fetch(web: Request, env?: { incoming?: IncomingMessage }): Promise<Response> {
      const holding = openHolding(memory, true);
      const received = fromWeb(web, env?.incoming, holding, trusted);
      const answered = await answer(received).catch((error: unknown) => failed(received, error));
      holding.close();
      const { reply, afterwards, sent } = answered ?? refuse(core, received, notFound);
      if (afterwards) setImmediate(afterwards);
      sent?.(true);
      const body = received.method === "HEAD" ? undefined : (reply.body as Uint8Array<ArrayBuffer> | undefined);
      return new Response(body, { status: reply.status, headers: pairs(reply.headers) });
    },
    /** The same for a path below the origin, or a whole URL. */
    request: (path: string, init?: RequestInit): Promise<Response> =>
      app.fetch(new Request(new URL(path, "http://localhost"), init)),
    /** The endpoint and input of a GET of a path; `undefined` if no endpoint has it, or its input does not fit. */
    readPath(path: string) {
      const [[[{ asksFor } = {}, sent = {}] = []]] = router.match("GET", path);
      if (asksFor === undefined) return undefined;
      const { endpoint, pairsBelow } = asksFor;
      const reading = inputOfPath({ target: path }, endpoint, { params: paramsOf(sent), pairsBelow });
      return "input" in reading ? { endpoint, input: reading.input } : undefined;
    },
  };
  return app;
};

const documentPaths = ({ documents }: AppCore): string[] => documents.flatMap(({ paths }) => paths);

const notFound: OwnError = { status: 404, detail: "Not Found" };

const notFoundBelow = (prefix: string, path: string, candidates: readonly Candidate[]): OwnError => {
  const suggested = suggestPath(path.slice(prefix.length), candidates);
  return suggested === undefined ? notFound : { status: 404, detail: `Not Found. Did you mean ${prefix}${suggested}?` };
};

const corsOf = ({ settings }: AppCore, { header }: Received) => corsList(settings.CORS_ORIGINS, header("origin"));

const errorReply = (core: AppCore, received: Received, error: OwnError): Reply => {
  const { method, target, header, exchange } = received;
  const { isProxied } = exchange;
  return core.ownErrors.replyTo(
    { method, target, accept: header("accept"), origin: header("origin"), isProxied },
    error,
  );
};

/** Refuses a path or a method, with links to the documents about those that there are. */
const refuse = (core: AppCore, received: Received, { headers = [], ...error }: OwnError): Handled => {
  const path = pathOf(received.target);
  const links = core.documents.flatMap(({ linksOf }) => linksOf(path) ?? []);
  return {
    reply: errorReply(core, received, { ...error, headers: [...headers, ...links.flatMap((link) => ["Link", link])] }),
  };
};

/**
 * Routes each path, with and without a slash at its end, to its endpoints; other methods get 405, or
 * the answer to a preflight.
 */
const routerOf = (known: readonly Pattern[], core: AppCore): TrieRouter<AppRoute> => {
  const dialect = newInterface(core);
  const router = new TrieRouter<AppRoute>();
  for (const prefix of core.settings.PREFIXES) {
    // Below "/" other methods are legacy's.
    for (const path of prefix === "/" ? [] : documentPaths(core))
      for (const written of writtenAs(prefix, { path }))
        router.add("ALL", written, { handle: otherMethods(core, readOnly) });
    for (const pattern of known) {
      const base = prefix === "/" ? "" : prefix;
      const pairsBelow = pattern.pairsBelow === undefined ? undefined : base + pattern.pairsBelow;
      for (const path of writtenAs(base, pattern)) {
        for (const [method, endpoint] of pattern.methods)
          router.add(method, path, {
            handle: answerBy(core, dialect, endpoint, pairsBelow),
            asksFor: { endpoint, pairsBelow },
          });
        router.add("ALL", path, { handle: otherMethods(core, pattern) });
      }
    }
  }
  return router;
};

const answerBy =
  (
    core: AppCore,
    dialect: Dialect<CacheKey>,
    endpoint: PreparedEndpoint,
    pairsBelow: string | undefined,
  ): RouteHandler =>
  async (received, params) => {
    const { handler, noteLoop, meter, errorFormats, hitPath } = core;
    const { method, target, header, exchange, caller } = received;
    const via = header("via");
    if (via !== undefined && isLoop(via)) {
      noteLoop(via, endpoint.name);
      return {
        reply: errorReply(core, received, { status: 502, detail: "The gateway's upstream is the gateway itself." }),
      };
    }
    const started = performance.now();
    const reading = await inputOf(received, endpoint, { params, pairsBelow }, core);
    const served = await serve(core, handler, endpoint, received, reading);
    const { answer, how, cacheKey, decision = legacyDecision, afterwards } = served;
    // A body may ask for anything; a path always asks for the same.
    if (cacheKey && method !== "POST") hitPath.learn(pathOf(target), dialect, cacheKey);
    const took = performance.now() - started;
    const replyRequest = {
      method,
      acceptEncoding: header("accept-encoding"),
      ifNoneMatch: header("if-none-match"),
      keyed: caller.credential.key !== undefined || caller.credential.refused === true,
      cors: corsOf(core, received),
      errorFormat: answer.status < 400 ? undefined : errorFormats(header("accept"), pathOf(target)),
    };
    const reply = replyWith({ ...served, took }, replyRequest, performance.now());
    const sent = (isSent: boolean) => {
      const [status, bytes] = isSent ? [reply.status, reply.body?.length ?? 0] : [503, 0];
      const { stage, backend } = decision;
      Object.assign(exchange, {
        endpoint: endpoint.name,
        cache: answerResultOf(status, how),
        stage,
        backend,
      });
      meter.countAnswer(endpoint.name, { backend, status, how, ms: took, bytes });
    };
    return { reply, afterwards, sent };
  };

const readOnly = { methods: new Map([["GET", undefined]] as const) };

const otherMethods =
  (core: AppCore, pattern: Parameters<typeof allowed>[0]): RouteHandler =>
  (received) => {
    if (received.method !== "OPTIONS")
      return refuse(core, received, {
        status: 405,
        detail: "Method Not Allowed",
        headers: ["Allow", allowed(pattern)],
      });
    const headers = [...corsOf(core, received), ...Object.entries(preflightHeaders(allowed(pattern))).flat()];
    return { reply: { status: 204, headers, body: undefined } };
  };

const paramsOf = (sent: Record<string, string | number>): Record<string, string> =>
  Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, unescaped(String(value))]));

/** Flat names and values -> pairs of them. */
const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] as string, flat[2 * i + 1] as string]);

/** Every path answers with and without a slash at its end. */
const writtenAs = (base: string, { path, pairsBelow }: Candidate): string[] =>
  pairsBelow === undefined ? [base + path, `${base}${path}/`] : [base + pairsBelow, base + path];
