import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Context } from "hono";
import { readDirectives } from "../cache/directives.ts";
import { forwardedHeaders } from "../upstream/forwarding.ts";
import { type Answer, answerOf } from "../endpoint/answer.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import type { Reader, ReadFor, Unread } from "../reading/reader.ts";
import { type BodyLimits, readBody } from "../http/body.ts";
import { bucketOf } from "../features/migration/bucket.ts";
import type { Bucketing } from "../features/migration/decide.ts";
import { clientAddress } from "../upstream/clientAddress.ts";
import { type Credential, readCredential } from "../http/credential.ts";
import { givenInPairs, givenInPath, type InputReading, readInput } from "../endpoint/input.ts";
import { queryOf } from "../http/requestTarget.ts";
import type { Keys } from "./keys.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import type { RequestInput } from "./serve.ts";

/** Node's own request and response, where there are any: `app.request()` in a test has none. */
export type Env = { Bindings: Partial<{ incoming: IncomingMessage; outgoing: ServerResponse }> };

/** What reading a request takes. `totalTimeout`: milliseconds for one request, whatever it takes. */
export type RequestInputServices = { reader: Reader; keys: Pick<Keys, "ownerOf">; totalTimeout: number };

export type RequestInputSettings = {
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
export const readRequest = async (
  c: Context<Env>,
  endpoint: PreparedEndpoint,
  pairsBelow: string | undefined,
  settings: RequestInputSettings,
  { reader, keys, totalTimeout }: RequestInputServices,
): Promise<RequestInput> => {
  const credential = readCredential(queryOf(targetOf(c.req.raw, c.env)), (name) => c.req.header(name));
  const { key } = credential;
  const client = clientOf(c, settings.trusted);
  const caller = key === undefined ? client : keys.ownerOf(key);
  const leaving = leavingOf(c);
  return {
    credential,
    client,
    asker: askerOf(c, credential, settings),
    input:
      c.req.method === "POST"
        ? await inputOfBody(c, endpoint, settings.body, reader, () => ({
            caller,
            deadline: Date.now() + totalTimeout,
            ...leaving,
          }))
        : inputOfPath(c, endpoint, pairsBelow),
    wanted: readDirectives(c.req.header("cache-control"), c.req.header("pragma")),
    headers: sentAlong(c, settings.trusted),
    ...leaving,
  };
};

/** One caller sees one side: known by its key or, without one, by its address and agent. */
const askerOf = (c: Context<Env>, { key }: Credential, { trusted, mayForce }: RequestInputSettings): Bucketing => {
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
const leavingOf = ({ env }: Context<Env>): Pick<RequestInput, "leaving"> => {
  if (env?.outgoing === undefined) return {};
  const leaving = new AbortController();
  env.outgoing.once("close", () => leaving.abort());
  return { leaving: leaving.signal };
};

/** `readFor` is called when the body has come: reading it has a deadline of its own. */
const inputOfBody = async (
  c: Context<Env>,
  { name }: PreparedEndpoint,
  limits: BodyLimits,
  reader: Reader,
  readFor: () => ReadFor,
): Promise<InputReading | Answer> => {
  // A body that is not read to its end must not take its connection, and our answer, with it.
  const chunks = c.env?.incoming?.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array> | undefined;
  const collected = await readBody(
    chunks ?? c.req.raw.body,
    c.req.header("content-type"),
    c.req.header("content-length"),
    limits,
  );
  if (!collected.ok) return collected.answer;
  const reading = await reader.readInput(name, collected.body, readFor());
  return "unread" in reading ? answerOf(unread[reading.unread]) : reading;
};

const unread: Record<Unread["unread"], Outcome> = {
  full: { kind: "unavailable", message: "Too many large bodies wait to be read." },
  late: { kind: "tooSlow", message: "The body took too long to read." },
  broken: { kind: "unavailable", message: "The body could not be read now." },
  left: { kind: "unavailable", message: "The request was given up." },
};

const inputOfPath = (
  c: Context<Env>,
  { fields }: PreparedEndpoint,
  pairsBelow: string | undefined,
): InputReading | Answer => {
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
