import { becomesAnother, type CanonicalRequest } from "../compare/canonicalRequest.ts";
import { MAX_COMPARED_BYTES } from "../compare/compareAnswers.ts";
import {
  type Answer,
  answerOf,
  type ErrorTable,
  type NamedEndpoint,
  parseJson,
  type Written,
} from "../../src/catalogue/index.ts";
import {
  ask as askUpstream,
  type Caller,
  isItsFault,
  openBackend,
  ownCaller,
  type Reader,
  type Upstream,
  UpstreamFailure,
  type UpstreamReply,
  type Watch,
} from "../../src/gateway/index.ts";
import { runStep, type Settings } from "../../src/operation/index.ts";
import { errorAnswer, type ModernAnswer } from "./errorAnswer.ts";
import { ModernFailure, watchModern } from "./watchModern.ts";
import { isJsonType, unservedReasons } from "./compareSides.ts";

/**
 * Modern's answer as it is served, an error without `groups`. `failed`: the reason why the answer is not served.
 * `status`: modern's, if it answered.
 */
export type ModernReply =
  | Written
  | { answer: Answer; groups?: undefined }
  | { failed: string; status?: number; /** The failure says nothing about modern. */ isUnasked?: boolean };

/** The parts of the gateway that modern's client uses. `isUsed`: true if modern answers callers now. */
export type ModernParts = Watch & {
  errors: ErrorTable;
  reader: Pick<Reader, "readModern">;
  isUsed: () => boolean;
};

/** An endpoint, and the input of the request to modern. */
type EndpointInput = { endpoint: NamedEndpoint; input: Record<string, unknown> };

/** Milliseconds without a request for a caller, after which any answer shows that modern is back. */
const QUIET_MS = 15_000;

type ModernSettings = Settings & { MODERN_CA?: string | undefined; MODERN_TIMEOUT_MS: number };

/** Opens the connections to modern, and the watch on its state, which reports to operators. */
const openConnections = (url: string, settings: ModernSettings, parts: ModernParts) => {
  const health = watchModern({
    url,
    report: parts.dependencies.add("modern", () => ({
      trouble: "Modern has been failing",
      effect: "legacy answers the reads, and writes in canary and modern are answered 502",
      isUsed: parts.isUsed(),
    })),
    onCircuit(change, openFor = 0) {
      const members = { backend: "modern" };
      if (change === "opened") parts.observer.event("circuit_opened", members);
      else parts.observer.event("circuit_closed", { ...members, openFor: Math.round(openFor) });
    },
  });
  const { origin } = new URL(url);
  const options = { name: "modern", origin, ca: settings.MODERN_CA, pools: ["answers"], health } as const;
  return { health, backend: openBackend(options, settings, parts) };
};

/** Opens a client of modern with separate connections, so that requests that wait for modern do not delay others. */
export const openModern = (url: string, settings: ModernSettings, parts: ModernParts) => {
  const { health, backend } = openConnections(url, settings, parts);
  const sendCanonical = canonicalSender(backend.pools.answers, url);
  const maxReply = settings.MAX_REPLY_BYTES;
  const send = (request: CanonicalRequest, caller: Caller, again: boolean, maxBytes = maxReply) => {
    const totalTimeout = Math.max(1, caller.deadline - performance.now());
    return sendCanonical(request, { ...caller, again, maxBytes, totalTimeout });
  };

  let calledAt = Number.NEGATIVE_INFINITY;
  /** The last read without a key that modern has answered. */
  let answered: CanonicalRequest = { method: "GET", path: "/" };

  const ask = async (asked: EndpointInput, request: CanonicalRequest, caller: Caller): Promise<ModernReply> => {
    if (becomesAnother(request)) return { ...otherPath, isUnasked: true };
    calledAt = performance.now();
    const call = async () => {
      const answer = await send(request, caller, false);
      // The reader takes the bytes.
      const { length } = answer.body;
      const read = await readModern(asked, answer, parts, caller);
      if (answer.status >= 500) throw new ModernFailure(`it answers with status ${answer.status}`);
      if (request.method === "GET" && caller.key === undefined && length <= MAX_COMPARED_BYTES) answered = request;
      return read;
    };
    try {
      // No other backend answers a write, so it is sent even while the circuit is open.
      const isWrite = asked.endpoint.writes !== undefined;
      const reply = await backend.call(call, isWrite);
      return reply ?? { failed: "the circuit is open" };
    } catch (error) {
      if (error instanceof UpstreamFailure || error instanceof ModernFailure)
        return { failed: error.message, isUnasked: !isItsFault(error) };
      throw error;
    }
  };

  const look = async (
    request: CanonicalRequest,
    caller: Caller,
    again = false,
  ): Promise<ModernAnswer | { failed: string }> => {
    if (becomesAnother(request)) return otherPath;
    try {
      const reply = await send(request, caller, again, Math.min(maxReply, MAX_COMPARED_BYTES));
      if (reply.status < 500 && performance.now() - calledAt >= QUIET_MS) health.close();
      return textOf(reply);
    } catch (error) {
      if (error instanceof UpstreamFailure) return { failed: error.message };
      throw error;
    }
  };

  // If no request of a caller reaches modern, nothing else would show that it is back.
  const looking = setInterval(() => {
    if (!health.isFailing() || performance.now() - calledAt < QUIET_MS) return;
    look(answered, ownCaller(settings.MODERN_TIMEOUT_MS), true).catch(parts.observer.fault);
  }, QUIET_MS).unref();

  return {
    client: {
      /** Sends a request once. An answer that is not served, or a missing answer, is `failed`. */
      ask: (asked: EndpointInput, request: CanonicalRequest, caller: Caller) =>
        runStep("modern", { endpoint: asked.endpoint.name }, () => ask(asked, request, caller)),
      /**
       * Sends a request for a comparison; `again` bypasses modern's caches. A failure does not open the circuit for
       * callers; an answer closes it, if no caller has sent a request for a while.
       */
      look: (...about: Parameters<typeof look>) => runStep("modern", { endpoint: "comparison" }, () => look(...about)),
    },
    async close(): Promise<void> {
      clearInterval(looking);
      await backend.close();
    },
  };
};

/** The options of a request: bypass the caches (`again`), a key in the query, further headers. */
type Sending = {
  again: boolean;
  key?: string | undefined;
  headers: readonly string[];
  maxBytes: number;
  /** Milliseconds. */
  totalTimeout: number;
  exchange?: Caller["exchange"];
  holding?: Caller["holding"];
};

/**
 * Makes the function that sends requests of the new interface to an implementation at a URL such as `http://host/v1`.
 * That function rejects with an `UpstreamFailure`.
 */
export const canonicalSender = (upstream: Upstream, url: string) => {
  const { host, pathname } = new URL(url);
  const base = pathname.replace(/\/$/, "");
  return (
    { method, path, body }: CanonicalRequest,
    { again, key, headers, maxBytes, totalTimeout, exchange, holding }: Sending,
  ): Promise<UpstreamReply> => {
    // Every implementation accepts a key in the query, but not all accept it in a header.
    const query = key === undefined ? "" : `?api_key=${encodeURIComponent(key)}`;
    return askUpstream(upstream, {
      method,
      path: `${base}${path}${query}`,
      headers: [
        "host",
        host,
        "accept",
        "application/json",
        ...headers,
        ...(again ? ["cache-control", "no-cache"] : []),
        ...(body === undefined ? [] : ["content-type", "application/json"]),
      ],
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      maxBytes,
      totalTimeout,
      exchange,
      holding,
    });
  };
};

const otherPath = { failed: "the path would become another" };

const textOf = ({ body, ...head }: UpstreamReply): ModernAnswer => ({
  ...head,
  text: body.toString("utf8"),
});

/** The largest error in bytes. The interface has no larger error. */
const MAX_ERROR_BYTES = 128 * 1024;

/** Reads modern's answer by the endpoint's rules, and checks that the endpoint may answer so. */
const readModern = async (
  { endpoint, input }: EndpointInput,
  reply: UpstreamReply,
  { errors, reader }: Pick<ModernParts, "errors" | "reader">,
  { deadline, holding, key }: Caller,
): Promise<ModernReply> => {
  const { status, contentType, body: bytes } = reply;
  if (status === 200) {
    if (!isJsonType(contentType)) return { failed: unservedReasons.notJsonType(contentType), status };
    const read = await reader.readModern({ endpoint: endpoint.name, input }, bytes, deadline, holding);
    if ("failure" in read) return { failed: `its answer could not be read (${read.failure})`, status };
    if ("failed" in read) return { ...read, status };
    if ("outcome" in read) return { answer: answerOf(read.outcome) };
    if ("mismatch" in read) return { failed: unservedReasons.doesNotFit(read.mismatch), status };
    return read.written;
  }
  if (status < 400 || status >= 500 || bytes.length > MAX_ERROR_BYTES)
    return { failed: unservedReasons.notAnOutcome(status), status };
  const document = parseJson(bytes.toString("utf8"));
  if (document === undefined) return { failed: unservedReasons.notJson, status };
  const answer = errorAnswer(endpoint, errors, textOf(reply), document);
  const withoutKey = key === undefined ? endpoint.modern?.withoutKey : undefined;
  if (withoutKey && answer?.status === 401) return { answer: answerOf(withoutKey) };
  return answer ? { answer } : { failed: unservedReasons.notAnOutcome(status), status };
};
