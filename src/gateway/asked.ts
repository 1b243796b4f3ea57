import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Context } from "hono";
import { readDirectives } from "../cache/directives.ts";
import { forwardedHeaders } from "../upstream/forwarding.ts";
import type { Answer } from "../outcome/answer.ts";
import { type BodyLimits, readBody } from "./body.ts";
import { bucketOf } from "../migration/bucket.ts";
import type { Asker } from "../migration/decide.ts";
import { clientAddress } from "../upstream/clientAddress.ts";
import { type Credential, readCredential } from "./credential.ts";
import { givenInBody, givenInPairs, givenInPath, type InputReading, readInput } from "./input.ts";
import { queryOf } from "./paths.ts";
import type { Prepared } from "./prepared.ts";
import type { Asked } from "./serve.ts";

/** Node's own request and response, where there are any: `app.request()` in a test has none. */
export type Env = { Bindings: Partial<{ incoming: IncomingMessage; outgoing: ServerResponse }> };

export type AskedSettings = {
  /** Of a client's JSON body: bytes at most, and milliseconds until it has come. */
  body: BodyLimits;
  trusted: (address: string) => boolean;
  /** Requests may name the side that answers them (`Gateway-Backend`). */
  mayForce: boolean;
};

/** The request target as it was sent, where Node has it: the URL of a Request is normalised. */
export const targetOf = (request: Request, env: Env["Bindings"] | undefined): string =>
  env?.incoming?.url ?? request.url.replace(/^https?:\/\/[^/]*/, "");

/** What a request asks of an endpoint; `pairsBelow` is the path before its pairs of filters, where it has any. */
export const askedOf = async (
  c: Context<Env>,
  endpoint: Prepared,
  pairsBelow: string | undefined,
  settings: AskedSettings,
): Promise<Asked> => {
  const credential = readCredential(queryOf(targetOf(c.req.raw, c.env)), (name) => c.req.header(name));
  return {
    credential,
    client: clientOf(c, settings.trusted),
    asker: askerOf(c, credential, settings),
    input: await inputOf(c, endpoint, pairsBelow, settings.body),
    wanted: readDirectives(c.req.header("cache-control"), c.req.header("pragma")),
    headers: sentAlong(c, settings.trusted),
    ...leavingOf(c),
  };
};

/** One caller sees one side: known by its key or, without one, by its address and agent. */
const askerOf = (c: Context<Env>, { key }: Credential, { trusted, mayForce }: AskedSettings): Asker => {
  const forced = mayForce ? c.req.header("gateway-backend") : undefined;
  return {
    bucket() {
      if (key !== undefined) return bucketOf(`key ${key}`);
      return bucketOf(`client ${clientOf(c, trusted)} ${c.req.header("user-agent") ?? ""}`);
    },
    ...(forced === "legacy" || forced === "modern" ? { forced } : {}),
  };
};

const clientOf = (c: Context<Env>, trusted: (address: string) => boolean): string =>
  clientAddress(c.env?.incoming?.socket.remoteAddress, c.req.header("x-forwarded-for"), trusted);

/** A signal that fires when nobody waits for the answer any more. */
const leavingOf = ({ env }: Context<Env>): Pick<Asked, "leaving"> => {
  if (env?.outgoing === undefined) return {};
  const leaving = new AbortController();
  env.outgoing.once("close", () => leaving.abort());
  return { leaving: leaving.signal };
};

const inputOf = async (
  c: Context<Env>,
  { fields, groups = {} }: Prepared,
  pairsBelow: string | undefined,
  limits: BodyLimits,
): Promise<InputReading | Answer> => {
  if (c.req.method === "POST") {
    // A body that is not read to its end must not take its connection, and our answer, with it.
    const chunks = c.env?.incoming?.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array> | undefined;
    const body = await readBody(
      chunks ?? c.req.raw.body,
      c.req.header("content-type"),
      c.req.header("content-length"),
      limits,
    );
    if (!("text" in body)) return body;
    const given = givenInBody(body.text, groups);
    return "errors" in given ? given : readInput(fields, given.given, "body", given.more);
  }
  if (pairsBelow === undefined) return readInput(fields, givenInPath(c.req.param()), "path");
  const segments = c.req.path.slice(pairsBelow.length).replace(/\/$/, "").split("/").slice(1);
  const given = givenInPairs(segments);
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
  const asker = {
    remoteAddress: socket.remoteAddress,
    encrypted,
    host: incoming.headers.host,
    httpVersion,
    incoming: incoming.headers,
    trusted,
  };
  return [...headers, ...forwardedHeaders(asker)];
};
