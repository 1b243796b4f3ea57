import type { TLSSocket } from "node:tls";
import { forwardedHeaders } from "../upstream/forwarding.ts";
import {
  type Answer,
  collectErrors,
  elsewhere,
  extra,
  givenInPairs,
  givenInPath,
  type InputError,
  type InputReading,
  pathOf,
  queryOf,
  readBodyInput,
  readInput,
} from "../../catalogue/index.ts";
import { readBody } from "../http/body.ts";
import type { Caller } from "../upstream/legacyClient.ts";
import type { Received } from "./context.ts";
import type { WholeCore } from "./core.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** The place of the input in a path: named segments, or pairs of name and value below `pairsBelow`. */
type PathInput = { params: Readonly<Record<string, string>>; pairsBelow: string | undefined };

/**
 * Reads the input of an endpoint from a request; an answer if the request's body could not be read.
 *
 * @throws An error if the client leaves before the end of its body.
 */
export const inputOf = async (
  received: Received,
  endpoint: PreparedEndpoint,
  path: PathInput,
  core: WholeCore,
): Promise<InputReading | Answer> => {
  const reading =
    received.method === "POST" ? await inputOfBody(received, endpoint, core) : inputOfPath(received, endpoint, path);
  const errors = queryErrors(queryOf(received.target), endpoint);
  if (errors.length === 0 || "status" in reading) return reading;
  return { errors: "errors" in reading ? [...errors, ...reading.errors] : errors };
};

/**
 * The caller of legacy for a request. It has neither the cookies nor the host of the request, since the answer is
 * cached for all callers.
 */
export const callerOf = (
  { trusted, totalTimeout }: WholeCore,
  { header, incoming, caller }: Received,
): Pick<Caller, "key" | "client" | "headers" | "deadline"> => {
  const agent = header("user-agent");
  const headers = agent === undefined ? [] : ["user-agent", agent];
  if (incoming) {
    const { socket, httpVersion } = incoming;
    const forwarded = forwardedHeaders({
      remoteAddress: socket.remoteAddress,
      encrypted: (socket as Partial<TLSSocket>).encrypted === true,
      host: undefined,
      httpVersion,
      incoming: { ...incoming.headers, "x-forwarded-host": undefined, forwarded: undefined },
      trusted,
    });
    headers.push(...forwarded);
  }
  return { key: caller.credential.key, client: caller.address, headers, deadline: performance.now() + totalTimeout };
};

/** The only query parameter that is allowed. */
const QUERY = ["api_key"];

/**
 * The errors for other query parameters. If a parameter is a field of the endpoint, the error says where it belongs.
 */
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

const inputOfBody = async (
  { header, body, holding }: Received,
  endpoint: PreparedEndpoint,
  { settings }: WholeCore,
): Promise<InputReading | Answer> => {
  const limits = { most: settings.MAX_BODY_BYTES, timeout: settings.BODY_TIMEOUT_MS, holding };
  const collected = await readBody(body(), header, limits);
  if (!collected.ok) return collected.answer;
  holding.release();
  return readBodyInput(endpoint, collected.body);
};

/** Reads the input of an endpoint from a path. */
export const inputOfPath = (
  { target }: Pick<Received, "target">,
  { input }: PreparedEndpoint,
  { params, pairsBelow }: PathInput,
): InputReading => {
  if (pairsBelow === undefined) return readInput(input, givenInPath(params), "path");
  const segments = pathOf(target).slice(pairsBelow.length).replace(/\/$/, "").split("/").slice(1);
  const pairs = givenInPairs(segments);
  return "errors" in pairs ? pairs : readInput(input, pairs.given, "path");
};
