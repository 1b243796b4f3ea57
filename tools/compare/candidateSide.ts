import { type CanonicalRequest, canonicalRequest } from "../../libraries/compare/canonicalRequest.ts";
import { type GivenAnswer, parseAnswer } from "../../libraries/compare/answers.ts";
import { type Endpoint, givenInBody, type InputReading, readInput } from "../../src/catalogue/index.ts";
import { canonicalSender } from "../../libraries/modern/client.ts";
import { openUpstream, UpstreamFailure, type UpstreamSettings } from "../../src/gateway/index.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import { givenInUrl, routeTable } from "../corpus/mapModernPath.ts";

/** The side that is compared with the expected answers: another gateway, or the new implementation. */
export type CandidateSide = ReturnType<typeof openCandidateSide>;

/** The user agent of this command, in the logs of both sides. */
export const USER_AGENT = "catalog-gateway-compare";

type CandidateSettings = Omit<UpstreamSettings, "origin"> & {
  totalTimeout: number;
  maxReply: number;
  /** The place of the key: all implementations read it from the query, a gateway also from a header. */
  keyIn: "header" | "query";
};

/**
 * Opens connections to a candidate. `url`: the beginning of the new interface's paths, `http://host:9000` or
 * `http://host/v1`.
 */
export const openCandidateSide = (url: string, { totalTimeout, maxReply, keyIn, ...settings }: CandidateSettings) => {
  const upstream = openUpstream({ ...settings, origin: new URL(url).origin });
  const send = canonicalSender(upstream, url);
  return {
    /** Sends a request. `again`: bypasses the candidate's caches. `wasReached`: it was reached, but gave no answer. */
    async ask(
      request: CanonicalRequest,
      key: string | undefined,
      again: boolean,
    ): Promise<GivenAnswer | { failed: string; wasReached: boolean }> {
      const inHeader = key === undefined || keyIn === "query" ? [] : ["x-api-key", key];
      const sending = {
        again,
        key: keyIn === "query" ? key : undefined,
        headers: ["user-agent", USER_AGENT, ...inHeader],
        maxBytes: maxReply,
        totalTimeout,
      };
      try {
        const { status, contentType, body } = await send(request, sending);
        return parseAnswer(status, contentType || undefined, body.toString("utf8"));
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        return { failed: `the candidate: ${error.message}`, wasReached: error.kind !== "unreachable" };
      }
    },
    close: () => upstream.close(),
  };
};

/** The input of a request; `undefined` if it is not valid. */
export type InputOfRequest = (request: CorpusRequest) => Record<string, unknown> | undefined;

/** Makes the function that reads the input of a request as the gateway does. */
export const inputReader = (endpoints: Readonly<Record<string, Endpoint>>): InputOfRequest => {
  const routed = routeTable(Object.entries(endpoints).map(([name, endpoint]) => ({ ...endpoint, name })));

  const inputOf = ({ input, bodyObjects = {} }: Endpoint, { path, body }: CorpusRequest): InputReading => {
    const read =
      body === undefined ? givenInUrl(routed(path) ?? { params: {} }) : givenInBody(JSON.stringify(body), bodyObjects);
    return "errors" in read ? read : readInput(input, read.given, body === undefined ? "path" : "body");
  };

  return (request) => {
    const endpoint = endpoints[request.endpoint];
    const read = endpoint && inputOf(endpoint, request);
    return read && "input" in read ? read.input : undefined;
  };
};

/**
 * Makes the function that routes requests as the gateway does for the new implementation; an invalid request goes
 * unchanged. `routes`: MODERN_ROUTES, by endpoint.
 */
export const modernRouter =
  (endpoints: Readonly<Record<string, Endpoint>>, routes: Readonly<Record<string, string>>) =>
  (request: CorpusRequest, input: Record<string, unknown> | undefined): CanonicalRequest => {
    const endpoint = endpoints[request.endpoint];
    return endpoint && input ? canonicalRequest(endpoint, input, routes[request.endpoint]) : request;
  };
