import { firstUnexpected } from "../compare/fits.ts";
import { MAX_COMPARED_BYTES } from "../compare/judge.ts";
import type { Ledger } from "../compare/ledger.ts";
import type { ByteBudget } from "../concurrency/byteBudget.ts";
import type { Answer } from "../endpoint/answer.ts";
import { becomesAnother, type CanonicalRequest, formatRequest } from "../endpoint/canonicalRequest.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { ErrorTable } from "../legacy/reading.ts";
import type { Reader } from "../reading/reader.ts";
import { parseJson } from "../rules/parseJson.ts";
import type { Json } from "../rules/rule.ts";
import type { Settings } from "../settings/settings.ts";
import { readCertificates } from "../settings/certificates.ts";
import { upstreamSettings } from "../settings/upstreamSettings.ts";
import type { Dependencies } from "../telemetry/dependencies.ts";
import type { CallResult, Meter } from "../telemetry/meter.ts";
import { runStep } from "../telemetry/steps.ts";
import type { Observer } from "../telemetry/observer.ts";
import { observeCalls, observeCircuit } from "../telemetry/observeUpstream.ts";
import { ask, type UpstreamReply } from "../upstream/ask.ts";
import { BackendFailure, type Breaker, isItsFault, openBreaker } from "../upstream/breaker.ts";
import { UpstreamFailure } from "../upstream/failure.ts";
import { openUpstream, openUpstreamHealth, type Upstream } from "../upstream/upstream.ts";
import { errorAnswer } from "./errorAnswer.ts";
import { isJsonType, unservedReasons } from "./whyUnserved.ts";

/**
 * Modern's answer as it is served, with the excerpt of its document if it is one; or why it is not served. `status`: modern's own, where
 * it answered.
 */
export type ModernReply =
  | { answer: Answer; document?: Json }
  | { failed: string; status?: number; /** The failure says nothing about modern. */ isUnasked?: boolean };

/** Modern's answer, served or not. */
type ModernGiven = { status: number; contentType: string; text: string };

/** `client`: the address of the caller. `deadline`: milliseconds since the epoch. */
type ModernCaller = { key?: string; client?: string; headers: string[]; deadline: number };

/** Asks the new implementation. */
export type ModernClient = {
  /** Asks once; `again`: past its caches. Never rejects because of what modern does. */
  ask(endpoint: NamedEndpoint, request: CanonicalRequest, caller: ModernCaller, again?: boolean): Promise<ModernReply>;
  /** Asks for a comparison: failures do not open the circuit for callers. */
  look(request: CanonicalRequest, caller: ModernCaller, again?: boolean): Promise<ModernGiven | { failed: string }>;
};

type NamedEndpoint = Endpoint & { name: string };

/** What decides whether an answer of modern is served. */
type Judging = {
  errors: ErrorTable;
  /** The ledger in force: how modern's documents may differ. */
  ledger: () => Ledger;
  /** Finds where a document does not fit its endpoint; reads a large one in another thread. */
  check: Reader["checkModern"];
};

/** What of the gateway modern's client uses: the bound on answers that are being collected, metrics, and the list of dependencies. */
type ModernParts = {
  memory: ByteBudget;
  meter: Meter;
  dependencies: Dependencies;
  observer: Observer;
};

/** Opens connections of its own to modern, so that requests that wait there delay no others. */
export const openModern = (
  url: string,
  settings: Settings & { MODERN_CA?: string | undefined },
  judging: Judging,
  { memory, meter, dependencies, observer }: ModernParts,
): { client: ModernClient; close: () => Promise<void> } => {
  const health = openUpstreamHealth(dependencies.add("modern"));
  const upstream = openUpstream({
    ...upstreamSettings(settings),
    ...readCertificates("MODERN_CA", settings.MODERN_CA),
    origin: new URL(url).origin,
    memory,
    health,
    onCall: observeCalls(observer, "modern_asked"),
  });
  const breaker = openBreaker((...change) => observeCircuit(observer, "modern", ...change));
  meter.addBackend({ name: "modern", circuit: () => breaker.circuit(), certificateExpiry: health.certificateExpiry });
  const onCall: OnModernCall = (...call) => meter.countCall("modern", ...call);
  const target = modernTarget(url);
  const client = modernClient(upstream, { target, maxReply: settings.MAX_REPLY_BYTES, breaker, onCall, ...judging });
  return {
    client: {
      ask: (endpoint, ...of) => runStep("modern", { endpoint: endpoint.name }, () => client.ask(endpoint, ...of)),
      look: (...of) => runStep("modern", { endpoint: "comparison" }, () => client.look(...of)),
    },
    close: () => upstream.close(),
  };
};

/** How a request is sent: past the caches (`again`), with a key in the query, with further headers. */
type Sending = {
  again: boolean;
  key?: string | undefined;
  headers: readonly string[];
  maxBytes: number;
  /** Milliseconds. */
  totalTimeout: number;
};

/** Where an implementation serves the new interface: its Host, and the path that comes before all others, without a slash at the end. */
type Target = { host: string; base: string };

/** The target at a URL such as `http://host/v1`. */
export const modernTarget = (url: string): Target => {
  const { host, pathname } = new URL(url);
  return { host, base: pathname.replace(/\/$/, "") };
};

/** Sends a request of the new interface. Rejects with an UpstreamFailure. */
export const sendCanonical = (
  upstream: Upstream,
  { host, base }: Target,
  { method, path, body }: CanonicalRequest,
  { again, key, headers, maxBytes, totalTimeout }: Sending,
): Promise<UpstreamReply> => {
  // Every implementation takes a key in the query, not every one in a header.
  const query = key === undefined ? "" : `?api_key=${encodeURIComponent(key)}`;
  return ask(upstream, {
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
  });
};

type ModernClientParts = Judging & { target: Target; maxReply: number; breaker: Breaker; onCall: OnModernCall };
type OnModernCall = (result: CallResult, ms: number) => void;

const modernClient = (
  upstream: Upstream,
  { target, maxReply, breaker, onCall, ...judging }: ModernClientParts,
): ModernClient => {
  const send = (request: CanonicalRequest, caller: ModernCaller, again: boolean, maxBytes = maxReply) => {
    const totalTimeout = Math.max(1, caller.deadline - Date.now());
    return sendCanonical(upstream, target, request, { ...caller, again, maxBytes, totalTimeout });
  };
  return {
    async ask(endpoint, request, caller, again = false) {
      if (becomesAnother(request)) return { ...otherPath, isUnasked: true };
      const started = performance.now();
      const count = (result: CallResult) => onCall(result, performance.now() - started);
      try {
        const reply = await breaker.execute({ request: () => formatRequest(request), caller }, async () => {
          const given = await send(request, caller, again);
          const read = await readModern(endpoint, given, judging, caller);
          if (given.status >= 500) throw new BackendFailure(`it answered ${given.status}`);
          return read;
        });
        count(reply === undefined ? "circuit_open" : "answered");
        return reply ?? { failed: "the circuit is open" };
      } catch (error) {
        count("failed");
        if (error instanceof UpstreamFailure || error instanceof BackendFailure)
          return { failed: error.message, isUnasked: !isItsFault(error) };
        throw error;
      }
    },
    async look(request, caller, again = false) {
      if (becomesAnother(request)) return otherPath;
      try {
        return textOf(await send(request, caller, again, Math.min(maxReply, MAX_COMPARED_BYTES)));
      } catch (error) {
        if (error instanceof UpstreamFailure) return { failed: error.message };
        throw error;
      }
    },
  };
};

const otherPath = { failed: "the path would become another" };

const textOf = ({ status, contentType, body }: UpstreamReply): ModernGiven => ({
  status,
  contentType,
  text: body.toString("utf8"),
});

/** Bytes; no error of the interface has more. */
const MAX_ERROR_BYTES = 128 * 1024;

/** Checks modern's answer against the schema of the endpoint's document and against its outcomes. */
const readModern = async (
  endpoint: NamedEndpoint,
  given: UpstreamReply,
  { errors, ledger, check }: Judging,
  { deadline }: ModernCaller,
): Promise<ModernReply> => {
  const { status, contentType, body: bytes } = given;
  if (status === 200) {
    if (!isJsonType(contentType)) return { failed: unservedReasons.notJsonType(contentType), status };
    const checked = await check({ endpoint: endpoint.name }, bytes, deadline);
    if ("unread" in checked) return { failed: `its answer could not be read (${checked.unread})`, status };
    if ("failed" in checked) return { ...checked, status };
    const misfit = firstUnexpected(endpoint.name, ledger(), checked.misfits);
    if (misfit !== undefined) return { failed: unservedReasons.doesNotFit(misfit), status };
    const { answer, excerpt } = checked.written;
    return { answer, document: excerpt };
  }
  if (status < 400 || status >= 500 || bytes.length > MAX_ERROR_BYTES)
    return { failed: unservedReasons.notAnOutcome(status), status };
  const document = parseJson(bytes.toString("utf8"));
  if (document === undefined) return { failed: unservedReasons.notJson, status };
  const answer = errorAnswer(endpoint, errors, textOf(given), document);
  return answer ? { answer } : { failed: unservedReasons.notAnOutcome(status), status };
};
