import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { forwardedHeaders } from "../upstream/forwarding.ts";
import { isLoop } from "../upstream/via.ts";
import { type Answer, plainAnswer } from "./answer.ts";
import { readBody } from "./body.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import { readCredential } from "./credential.ts";
import { givenInBody, givenInPairs, givenInPath, readInput, type InputReading } from "./input.ts";
import type { Machine } from "./machine.ts";
import { isBelow, pathOf, queryOf } from "./paths.ts";
import type { Prepared } from "./prepared.ts";
import { allowed, type Pattern, patterns } from "./routes.ts";
import { serve } from "./serve.ts";

/** Node's own request and response, where there are any: `app.request()` in a test has none. */
type Env = { Bindings: Partial<{ incoming: IncomingMessage; outgoing: ServerResponse }> };

export type AppSettings = {
  prefixes: readonly string[];
  corsOrigins: readonly string[];
  /** Bytes at most of a client's JSON body. */
  maxBody: number;
  trusted: (address: string) => boolean;
  /** What is not ours goes on to legacy; only a prefix of `/` brings such requests here. */
  passThrough?: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
};

/** The new interface, under each of its prefixes. */
export const gatewayApp = (machine: Machine, endpoints: Prepared[], settings: AppSettings): Hono<Env> => {
  const app = new Hono<Env>({ getPath: (request, options) => pathOf(targetOf(request, options?.env)) });
  const respond = (c: Context<Env>, { status, body, headers }: Answer) =>
    new Response(body, {
      status,
      headers: {
        "Content-Type": "application/json",
        "Content-Length": String(Buffer.byteLength(body)),
        ...corsHeaders(settings.corsOrigins, c.req.header("origin")),
        ...headers,
      },
    });

  for (const prefix of settings.prefixes)
    for (const pattern of patterns(endpoints)) {
      const base = prefix === "/" ? "" : prefix;
      for (const path of writtenAs(base, pattern)) {
        for (const [method, endpoint] of pattern.methods)
          app.on(method, path, async (c) => {
            if (isLoop(c.req.header("via")))
              return respond(c, plainAnswer(502, "The gateway's upstream is the gateway itself."));
            const credential = readCredential(queryOf(targetOf(c.req.raw, c.env)), (name) => c.req.header(name));
            const input = await inputOf(c, endpoint, pattern, base, settings.maxBody);
            const answer = await serve(machine, endpoint, {
              credential,
              input,
              headers: sentAlong(c, settings.trusted),
            });
            return respond(
              c,
              credential.key === undefined
                ? answer
                : { ...answer, headers: { ...answer.headers, "Cache-Control": "private, no-store" } },
            );
          });
        app.all(path, (c) =>
          c.req.method === "OPTIONS"
            ? new Response(null, {
                status: 204,
                headers: {
                  ...corsHeaders(settings.corsOrigins, c.req.header("origin")),
                  ...preflightHeaders(allowed(pattern)),
                },
              })
            : respond(c, plainAnswer(405, "Method Not Allowed", { Allow: allowed(pattern) })),
        );
      }
    }

  app.notFound((c) => {
    const { incoming, outgoing } = c.env ?? {};
    const isOurs = settings.prefixes.some((prefix) => prefix !== "/" && isBelow(c.req.path, prefix));
    if (isOurs || !settings.passThrough || !incoming || !outgoing) return respond(c, plainAnswer(404, "Not Found"));
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

/** The request target as it was sent, where Node has it: the URL of a Request is normalised. */
const targetOf = (request: Request, env: Env["Bindings"] | undefined): string =>
  env?.incoming?.url ?? request.url.replace(/^https?:\/\/[^/]*/, "");

const inputOf = async (
  c: Context<Env>,
  { fields, groups = {} }: Prepared,
  { pairsBelow }: Pattern,
  base: string,
  maxBody: number,
): Promise<InputReading | Answer> => {
  if (c.req.method === "POST") {
    // A body that is not read to its end must not take its connection, and our answer, with it.
    const chunks = c.env?.incoming?.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array> | undefined;
    const body = await readBody(chunks ?? c.req.raw.body, c.req.header("content-type"), maxBody);
    if (!("text" in body)) return body;
    const given = givenInBody(body.text, groups);
    return "errors" in given ? given : readInput(fields, given.given, "body");
  }
  if (pairsBelow === undefined) return readInput(fields, givenInPath(c.req.param()), "path");
  const pairs = c.req.path
    .slice(base.length + pairsBelow.length)
    .replace(/\/$/, "")
    .split("/")
    .slice(1);
  const given = givenInPairs(pairs);
  return "errors" in given ? given : readInput(fields, given.given, "path");
};

/** What legacy is told of the client. Cookies and whatever else it sent stay here. */
const sentAlong = (c: Context<Env>, trusted: (address: string) => boolean): string[] => {
  const incoming = c.env?.incoming;
  const agent = c.req.header("user-agent");
  const headers = agent === undefined ? [] : ["user-agent", agent];
  if (!incoming) return headers;
  const { socket, httpVersion } = incoming;
  const encrypted = (socket as Partial<TLSSocket>).encrypted === true;
  headers.push(
    ...forwardedHeaders({
      remoteAddress: socket.remoteAddress,
      encrypted,
      host: incoming.headers.host,
      httpVersion,
      incoming: incoming.headers,
      trusted,
    }),
  );
  return headers;
};
