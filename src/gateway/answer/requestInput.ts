import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { type Directives, readDirectives } from "../cache/cacheRequest.ts";
import { forwardedHeaders, clientAddress } from "../upstream/forwarding.ts";
import { type Answer, answerOf, collectErrors } from "../../catalogue/endpoint/answer.ts";
import type { InputError } from "../../catalogue/endpoint/problem.ts";
import { elsewhere, extra } from "../../catalogue/endpoint/problem.ts";
import type { Outcome } from "../../catalogue/endpoint/outcome.ts";
import type { ReadFailure } from "../threads/reader.ts";
import type { Holding } from "../../operation/limits/byteBudget.ts";
import { readBody } from "../http/body.ts";
import { type Credential, readCredential } from "../../catalogue/endpoint/credential.ts";
import { givenInPairs, givenInPath, type InputReading, readInput } from "../../catalogue/endpoint/input.ts";
import { pathOf, queryOf } from "../../catalogue/endpoint/target.ts";
import type { Core } from "./feature.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** A request of the new interface, as Node or a program in this process has made it. */
export type AppRequest = {
  method: string;
  /** Path and query as they were sent: the URL of a web request is normalised. */
  target: string;
  /** A header's value, all of its lines joined by commas. */
  header: (name: string) => string | undefined;
  body: () => AsyncIterable<Uint8Array> | null;
  /** Node's own request, where there is one. */
  incoming?: IncomingMessage | undefined;
};

/** A request that came over a socket. */
export const fromNode = (incoming: IncomingMessage): AppRequest => ({
  method: incoming.method ?? "GET",
  target: incoming.url ?? "/",
  header: (name) => headerOf(incoming, name),
  // A body that is not read to its end must not take its connection, and our answer, with it.
  body: () => incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>,
  incoming,
});

/** A header's value, all of its lines joined by commas: of some, `headers` keeps only the first. */
export const headerOf = (incoming: IncomingMessage, name: string): string | undefined =>
  incoming.headersDistinct[name]?.join(", ");

/** A request of a program in this process; of `incoming` the target and the connection are taken. */
export const fromWeb = (web: Request, incoming?: IncomingMessage): AppRequest => ({
  method: web.method,
  target: incoming?.url ?? web.url.replace(/^https?:\/\/[^/]*/, ""),
  header: (name) => web.headers.get(name) ?? undefined,
  body: () => web.body,
  incoming,
});

/** Where a route finds the input in a path: in named segments, or in pairs of name and value below `pairsBelow`. */
type PathInput = { params: Readonly<Record<string, string>>; pairsBelow: string | undefined };

/** One request, read: who asks, for what. `reading` is an answer where the body could not be read. */
export type RequestInput = {
  credential: Credential;
  reading: InputReading | Answer;
  /** What the client's `Cache-Control` asks for. */
  wanted: Directives;
  /** Headers that are sent on to legacy, flat: `User-Agent`, `Forwarded`, `Via`. */
  headers: string[];
  /** The address of the client. */
  client: string;
  header: (name: string) => string | undefined;
};

/** What a request asks of an endpoint. `holding` has the bytes of its body until that is read. */
export const readRequest = async (
  request: AppRequest,
  endpoint: PreparedEndpoint,
  path: PathInput,
  core: Core,
  holding: Holding,
): Promise<RequestInput> => {
  const { header, incoming } = request;
  const query = queryOf(request.target);
  const credential = readCredential(query, header);
  const client = clientAddress(incoming?.socket.remoteAddress, header("x-forwarded-for"), core.trusted);
  return {
    credential,
    client,
    header,
    reading: withQueryErrors(
      queryErrors(query, endpoint),
      request.method === "POST"
        ? await inputOfBody(request, endpoint, core, holding)
        : inputOfPath(request, endpoint, path),
    ),
    wanted: readDirectives(header("cache-control"), header("pragma")),
    headers: sentAlong(request, core.trusted),
  };
};

/** The only query parameter that means something. */
const QUERY = ["api_key"];

/** Parameters of the query that mean nothing. The error of one that is a field of the endpoint says where it belongs. */
const queryErrors = (query: string, { input, bodyObjects = {}, routes }: PreparedEndpoint): InputError[] => {
  if (query === "") return [];
  const wrong = collectErrors("query");
  const [method = "", path = ""] = (routes[0] ?? "").split(" ");
  const place = method === "POST" ? `in the JSON body of POST ${path}` : `in the path, ${path}`;
  for (const name of new Set(new URLSearchParams(query).keys()))
    if (!QUERY.includes(name)) {
      const isField = Object.hasOwn(input, name) || Object.hasOwn(bodyObjects, name);
      wrong.add(["query", name], isField ? elsewhere(QUERY, place) : extra(QUERY));
    }
  return wrong.errors();
};

const withQueryErrors = (errors: InputError[], reading: InputReading | Answer): InputReading | Answer => {
  if (errors.length === 0 || "status" in reading) return reading;
  return { errors: "errors" in reading ? [...errors, ...reading.errors] : errors };
};

/** Reading a body has a deadline of its own, from when it has come. */
const inputOfBody = async (
  request: AppRequest,
  { name }: PreparedEndpoint,
  { services: { reader, totalTimeout }, settings }: Core,
  holding: Holding,
): Promise<InputReading | Answer> => {
  const { header } = request;
  const limits = { most: settings.MAX_BODY_BYTES, timeout: settings.BODY_TIMEOUT_MS, holding };
  const collected = await readBody(request.body(), header, limits);
  if (!collected.ok) return collected.answer;
  const reading = await reader.readInput({ endpoint: name }, collected.body, performance.now() + totalTimeout, holding);
  holding.release();
  return "failure" in reading ? answerOf(readFailures[reading.failure]) : reading;
};

const readFailures: Record<ReadFailure["failure"], Outcome> = {
  full: { kind: "unavailable", message: "Too many large bodies wait to be read." },
  late: { kind: "tooSlow", message: "The body took too long to read." },
  broken: { kind: "unavailable", message: "The body could not be read now." },
};

const inputOfPath = (
  { target }: AppRequest,
  { input }: PreparedEndpoint,
  { params, pairsBelow }: PathInput,
): InputReading | Answer => {
  if (pairsBelow === undefined) return readInput(input, givenInPath(params), "path");
  const segments = pathOf(target).slice(pairsBelow.length).replace(/\/$/, "").split("/").slice(1);
  const given = givenInPairs(segments);
  return "errors" in given ? given : readInput(input, given.given, "path");
};

/** The headers that legacy gets of the client's: no cookies, and no host, since the answer is cached for everybody. */
const sentAlong = ({ header, incoming }: AppRequest, trusted: (address: string) => boolean): string[] => {
  const agent = header("user-agent");
  const headers = agent === undefined ? [] : ["user-agent", agent];
  if (!incoming) return headers;
  const { socket, httpVersion } = incoming;
  const encrypted = (socket as Partial<TLSSocket>).encrypted === true;
  const forwarded = {
    remoteAddress: socket.remoteAddress,
    encrypted,
    host: undefined,
    httpVersion,
    incoming: { ...incoming.headers, "x-forwarded-host": undefined, forwarded: undefined },
    trusted,
  };
  headers.push(...forwardedHeaders(forwarded));
  return headers;
};
