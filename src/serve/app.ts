import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { PassThrough } from "../proxy/passThrough.ts";
import { isLoop } from "../upstream/forwarding.ts";
import { sendWhole } from "../http/httpServer.ts";
import { replyWith } from "../cache/reply.ts";
import { type Answer, plainAnswer } from "../endpoint/answer.ts";
import { readRequest, type RequestInputSettings, type Env, targetOf } from "./asked.ts";
import { corsList, preflightHeaders } from "../http/cors.ts";
import type { Front } from "./front.ts";
import type { Services } from "./services.ts";
import { isBelow, pathOf } from "../http/requestTarget.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import { allowed, type Pattern, patterns } from "./routes.ts";
import { serve } from "./serve.ts";

export type AppSettings = RequestInputSettings & {
  prefixes: readonly string[];
  corsOrigins: readonly string[];
  /** What is not ours goes on to legacy; only a prefix of `/` brings such requests here. */
  passThrough: PassThrough;
  /** Told which question a path asks, so that it can be answered before it comes here. */
  front: Front;
};

/** The new interface, under each of its prefixes. */
export const gatewayApp = (services: Services, endpoints: PreparedEndpoint[], settings: AppSettings): Hono<Env> => {
  const app = new Hono<Env>({ getPath: (request, options) => pathOf(targetOf(request, options?.env)) });
  const cors = (c: Context<Env>) => corsList(settings.corsOrigins, c.req.header("origin"));
  const respond = (c: Context<Env>, { status, body, headers }: Answer) => {
    const ours = [
      "Content-Type",
      "application/json",
      "Content-Length",
      String(Buffer.byteLength(body)),
      "Cache-Control",
      "no-store",
    ];
    return new Response(body, {
      status,
      headers: pairs([...ours, ...cors(c), ...Object.entries(headers ?? {}).flat()]),
    });
  };

  const answerBy = (endpoint: PreparedEndpoint, pairsBelow: string | undefined) => async (c: Context<Env>) => {
    if (isLoop(c.req.header("via")))
      return respond(c, plainAnswer(502, "The gateway's upstream is the gateway itself."));
    const started = performance.now();
    const asked = await readRequest(c, endpoint, pairsBelow, settings, services);
    const { answered, question, afterwards, isDivided } = await serve(services, endpoint, asked);
    // A body may ask anything; a path, always the same.
    if (question && c.req.method !== "POST") settings.front.learn(c.req.path, question);
    const { key, refused } = asked.credential;
    const took = performance.now() - started;
    const asker = {
      method: c.req.method,
      acceptEncoding: c.req.header("accept-encoding"),
      ifNoneMatch: c.req.header("if-none-match"),
      keyed: key !== undefined || refused === true || isDivided === true,
      cors: cors(c),
    };
    const reply = replyWith({ ...answered, took }, asker, Date.now());
    const { status, headers, body } = reply;
    if (afterwards) whenOut(c, afterwards);
    const { outgoing } = c.env ?? {};
    const isSent = outgoing === undefined || sendWhole(outgoing, reply);
    const bytes = isSent ? (body?.length ?? 0) : 0;
    services.meter.answered(endpoint.name, isSent ? status : 503, answered.how, took, bytes);
    // A Response would copy the bytes.
    if (outgoing !== undefined) return RESPONSE_ALREADY_SENT;
    return new Response(body as Uint8Array<ArrayBuffer> | undefined, { status, headers: pairs(headers) });
  };

  const otherMethods = (pattern: Pattern) => (c: Context<Env>) =>
    c.req.method === "OPTIONS"
      ? new Response(null, {
          status: 204,
          headers: pairs([...cors(c), ...Object.entries(preflightHeaders(allowed(pattern))).flat()]),
        })
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
    if (!left) services.observer.event("internal_error", { error: error.stack });
    return respond(c, plainAnswer(500, "Internal Server Error"));
  });
  return app;
};

/** The caller comes first: what is compared is compared when the answer has gone out. */
const whenOut = (c: Context<Env>, afterwards: () => void) => {
  const { outgoing } = c.env ?? {};
  if (outgoing) outgoing.once("close", afterwards);
  else setImmediate(afterwards);
};

/** Flat names and values -> pairs of them. */
const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] as string, flat[2 * i + 1] as string]);

/** Every path answers with and without a slash at its end. */
const writtenAs = (base: string, { path, pairsBelow }: Pattern): string[] =>
  pairsBelow === undefined ? [base + path, `${base}${path}/`] : [base + pairsBelow, base + path];
