import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { isLoop } from "../upstream/via.ts";
import { type Answer, plainAnswer } from "./answer.ts";
import { askedOf, type AskedSettings, type Env, targetOf } from "./asked.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import type { Gateway } from "./gateway.ts";
import type { Machine } from "./machine.ts";
import { isBelow, pathOf } from "./paths.ts";
import type { Prepared } from "./prepared.ts";
import { allowed, type Pattern, patterns } from "./routes.ts";
import { serve } from "./serve.ts";

export type AppSettings = AskedSettings & {
  prefixes: readonly string[];
  corsOrigins: readonly string[];
  /** What is not ours goes on to legacy; only a prefix of `/` brings such requests here. */
  passThrough: Gateway["passThrough"];
};

/** The new interface, under each of its prefixes. */
export const gatewayApp = (machine: Machine, endpoints: Prepared[], settings: AppSettings): Hono<Env> => {
  const app = new Hono<Env>({ getPath: (request, options) => pathOf(targetOf(request, options?.env)) });
  const cors = (c: Context<Env>) => corsHeaders(settings.corsOrigins, c.req.header("origin"));
  const respond = (c: Context<Env>, { status, body, headers }: Answer) => {
    const ours = { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
    return new Response(body, { status, headers: { ...ours, ...cors(c), ...headers } });
  };

  const answerBy = (endpoint: Prepared, pairsBelow: string | undefined) => async (c: Context<Env>) => {
    if (isLoop(c.req.header("via")))
      return respond(c, plainAnswer(502, "The gateway's upstream is the gateway itself."));
    const asked = await askedOf(c, endpoint, pairsBelow, settings);
    const answer = await serve(machine, endpoint, asked);
    // What was asked with a key is nobody else's.
    const own: Answer["headers"] = asked.credential.key === undefined ? {} : { "Cache-Control": "private, no-store" };
    return respond(c, { ...answer, headers: { ...answer.headers, ...own } });
  };

  const otherMethods = (pattern: Pattern) => (c: Context<Env>) =>
    c.req.method === "OPTIONS"
      ? new Response(null, { status: 204, headers: { ...cors(c), ...preflightHeaders(allowed(pattern)) } })
      : respond(c, plainAnswer(405, "Method Not Allowed", { Allow: allowed(pattern) }));

  for (const prefix of settings.prefixes)
    for (const pattern of patterns(endpoints)) {
      const base = prefix === "/" ? "" : prefix;
      const pairsBelow = pattern.pairsBelow === undefined ? undefined : base + pattern.pairsBelow;
      for (const path of writtenAs(base, pattern)) {
        for (const [method, endpoint] of pattern.methods) app.on(method, path, answerBy(endpoint, pairsBelow));
        app.all(path, otherMethods(pattern));
      }
    }

  app.notFound((c) => {
    const { incoming, outgoing } = c.env ?? {};
    const isOurs = settings.prefixes.some((prefix) => prefix !== "/" && isBelow(c.req.path, prefix));
    if (isOurs || !incoming || !outgoing) return respond(c, plainAnswer(404, "Not Found"));
    settings.passThrough(incoming, outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  app.onError((error, c) => {
    // A client that leaves in the middle of its body is nobody's error.
    const left = c.env?.incoming?.destroyed === true && !c.env.incoming.complete;
    if (!left) machine.observer.log.error({ event: "internal_error", error: error.stack });
    return respond(c, plainAnswer(500, "Internal Server Error"));
  });
  return app;
};

/** Every path answers with and without a slash at its end. */
const writtenAs = (base: string, { path, pairsBelow }: Pattern): string[] =>
  pairsBelow === undefined ? [base + path, `${base}${path}/`] : [base + pairsBelow, base + path];
