import { type CanonicalRequest, canonicalRequest, formatRequest } from "../../libraries/compare/canonicalRequest.ts";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Context,
  type Core,
  type Handler,
  type LegacyReply,
  type Served,
  withoutClient,
} from "../../src/gateway/index.ts";
import { type GivenAnswer, type LegacyQuery, parseAnswer } from "../../libraries/compare/answers.ts";
import { curlsOf } from "../../libraries/compare/curls.ts";
import { type Difference, isSame } from "../../libraries/compare/difference.ts";
import { originIn } from "../../libraries/compare/explain.ts";
import { legacyBody } from "../../libraries/compare/explainAnswer.ts";
import { MAX_COMPARED_BYTES, type Origin, markDrift } from "../../libraries/compare/compareAnswers.ts";
import { collectChanges, type Endpoint } from "../../src/catalogue/index.ts";
import { compareSides } from "../../libraries/modern/compareSides.ts";
import type { Side } from "./decide.ts";
import { openMirrorBudget } from "./mirrorBudget.ts";
import type { Modern } from "./modern.ts";
import type { Migration } from "./migration.ts";

/** The parts of the core that comparing uses. */
type ComparedCore = Pick<Core, "settings" | "totalTimeout" | "errors" | "cache" | "observer">;

/** One request that the gateway has answered. */
type AnsweredRequest = {
  context: Context;
  /** Lets legacy answer. */
  next: Handler;
  answered: Served;
  /** The side that made the answer. */
  backend: Side;
};

/**
 * One side's answer. `bytes`: its size. `source`: the reply of legacy from which it was made, if
 * legacy was asked.
 */
type SideAnswer = GivenAnswer & { bytes: number; source?: LegacyReply | undefined };

type SideReply = SideAnswer | { failed: string };

/**
 * Opens the comparison of answered requests on both sides, in the background. `rate`: most comparisons that start in
 * a second, and that run at a time. `recheck`: milliseconds until a mismatch is checked again.
 */
export const openShadow = (
  { settings, totalTimeout, errors, cache, observer }: ComparedCore,
  modern: Modern,
  migration: Migration,
  rate: number,
  recheck: number,
) => {
  const addresses = {
    legacy: settings.LEGACY_URL + settings.LEGACY_PATH,
    candidate: modern.url,
    keyName: "KEY",
  };
  const budget = openMirrorBudget(rate);
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  const askLegacy = async ({ context, next }: AnsweredRequest): Promise<SideReply> => {
    let source: LegacyReply | undefined;
    const onReply = (reply: LegacyReply) => void (source = reply.body.length > MAX_COMPARED_BYTES ? undefined : reply);
    const answered = await next({ ...mirrored(context, totalTimeout), bypass: true, onReply });
    return answered.isIncomplete ? { failed: "private rows may be lacking" } : { ...servedAnswer(answered), source };
  };

  const askModern = async (
    { context }: AnsweredRequest,
    canonical: CanonicalRequest,
    again: boolean,
  ): Promise<SideReply> => {
    const started = performance.now();
    const reply = await modern.client.look(canonical, mirrored(context, modern.timeout), again);
    const failed = "failed" in reply || reply.status >= 500;
    migration.track(context.endpoint.name).asked("modern", performance.now() - started, failed);
    return "failed" in reply ? reply : sideAnswer(reply.status, reply.contentType, reply.text);
  };

  /**
   * One answer of each side: the served answer and one of the other side or, `again`, two new answers
   * past the caches.
   */
  const bothAnswers = (
    request: AnsweredRequest,
    canonical: CanonicalRequest,
    again: boolean,
  ): Promise<[expected: SideReply, candidate: SideReply]> => {
    const served = again ? undefined : request.backend;
    return Promise.all([
      served === "legacy" ? servedAnswer(request.answered) : askLegacy(request),
      served === "modern" ? servedAnswer(request.answered) : askModern(request, canonical, again),
    ]);
  };

  /** Compares both sides once; `undefined` if one of them gave no answer that can be compared. */
  const compareOnce = async (
    request: AnsweredRequest,
    canonical: CanonicalRequest,
    again: boolean,
  ): Promise<Difference[] | undefined> => {
    const { endpoint, input } = request.context;
    const [expected, candidate] = await bothAnswers(request, canonical, again);
    for (const reply of [expected, candidate]) if ("bytes" in reply) budget.spend(reply.bytes);
    // If legacy fails, there is no expectation. Failures of modern are counted by its track.
    if ("failed" in expected || "failed" in candidate || expected.status >= 500) return undefined;
    if (expected.bytes > MAX_COMPARED_BYTES || candidate.bytes > MAX_COMPARED_BYTES) return undefined;
    const compared = { endpoint, input, errors, ledger: migration.ledger(), origin: originOf(endpoint, expected) };
    return compareSides(compared, expected, candidate);
  };

  /** Compares both sides. A mismatch is checked again before it counts. If it has disappeared by then, it is drift. */
  const compareTwice = async (
    request: AnsweredRequest,
    canonical: CanonicalRequest,
  ): Promise<Difference[] | undefined> => {
    const first = await compareOnce(request, canonical, false);
    if (!first?.some(({ kind }) => kind === "unexplained")) return first;
    await sleep(recheck, undefined, { signal: stopping.signal, ref: false });
    const second = await compareOnce(request, canonical, true);
    return second && markDrift(first, second);
  };

  const compare = async (request: AnsweredRequest): Promise<void> => {
    const { endpoint, input, legacy, key } = request.context;
    const canonical = canonicalRequest(endpoint, input, modern.routes[endpoint.name]);
    const differences = await compareTwice(request, canonical);
    if (differences === undefined) return;
    // Modern no longer gives the cached answer that was served.
    if (request.backend === "modern" && request.answered.how.hit && differences.some(({ kind }) => kind === "drift"))
      cache.invalidate({ endpoint: endpoint.name, soft: false })?.catch(observer.fault);
    const legacyQuery: LegacyQuery | undefined =
      "unsent" in legacy ? undefined : { request: legacy, format: endpoint.format ?? "json" };
    migration.compared({
      id: JSON.stringify([canonical.path, canonical.body]),
      endpoint: endpoint.name,
      question: formatRequest(canonical),
      at: new Date().toISOString(),
      differences,
      curl: (secrets) => curlsOf(addresses, canonical, key !== undefined, legacyQuery, secrets),
      key,
    });
  };

  return {
    /** Compares both sides, if the budget has room. */
    compare(request: AnsweredRequest): void {
      if (stopping.signal.aborted || !budget.enter(running.size)) return;
      const comparison = compare(request)
        .catch((error: Error) => {
          if (!stopping.signal.aborted) observer.fault(error);
        })
        .finally(() => running.delete(comparison));
      running.add(comparison);
    },
    /** The number of comparisons that the budget had no room for. */
    shed: budget.shed,
    /** Stops comparing, and resolves when the running comparisons have ended. */
    async idle(): Promise<void> {
      stopping.abort();
      await Promise.all(running);
    },
  };
};

/**
 * The context of a comparison. No client waits for it: it delays no client, and its failures count for no client.
 * `timeout`: milliseconds.
 */
const mirrored = (context: Context, timeout: number): Context => ({
  ...withoutClient(context, timeout),
  headers: [...context.headers, "gateway-mirror", "1"],
  client: "",
});

const servedAnswer = (answered: Served): SideAnswer => {
  const { status, body } = answered.answer;
  return sideAnswer(status, "application/json", body);
};

const sideAnswer = (status: number, contentType: string, body: string | Buffer): SideAnswer => ({
  // Parsing a larger answer would hold up callers, so it is not compared.
  ...(body.length > MAX_COMPARED_BYTES
    ? { status, contentType, body: undefined }
    : parseAnswer(status, contentType, body.toString())),
  bytes: body.length,
});

/**
 * Legacy's values, and the rules that made the expected values from them. If an answer is cached or merged,
 * only the rules are known.
 */
const originOf = ({ output }: Endpoint, { source, status, body }: SideAnswer): Origin => {
  const { note } = collectChanges();
  let ofDocument: Origin | undefined;
  return (at) => {
    if (at === "status") return { legacy: source?.status, rules: [] };
    const document = source?.reading.is === "document" ? source.reading.document : undefined;
    if (at === "" && source && document === undefined) return { legacy: legacyBody(source.reading), rules: [] };
    const isSource = () => document && status === 200 && isSame(output.read(document, note, document), body);
    ofDocument ??= originIn(output, isSource() ? document : undefined);
    return ofDocument(at);
  };
};
