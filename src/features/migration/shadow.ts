import { setTimeout as sleep } from "node:timers/promises";
import type { Served } from "../../gateway/cache/served.ts";
import { type GivenAnswer, type LegacyQuery, parseAnswer } from "../../libraries/compare/answers.ts";
import { curlsOf } from "../../libraries/compare/curls.ts";
import { type Difference, isSame } from "../../libraries/compare/difference.ts";
import { originIn } from "../../libraries/compare/explain.ts";
import { legacyBody } from "../../libraries/compare/explainAnswer.ts";
import { compareAnswers, MAX_COMPARED_BYTES, type Origin, markDrift } from "../../libraries/compare/compareAnswers.ts";
import { type CanonicalRequest, canonicalRequest, formatRequest } from "../../catalogue/endpoint/canonicalRequest.ts";
import type { Endpoint } from "../../catalogue/endpoint/endpoint.ts";
import { type LegacyReply, withoutClient } from "../../gateway/upstream/legacyClient.ts";
import { whyUnserved } from "../../libraries/modern/whyUnserved.ts";
import { collectChanges } from "../../catalogue/rules/notes.ts";
import type { Backend, Context } from "../../gateway/answer/context.ts";
import type { Core } from "../../gateway/answer/feature.ts";
import type { Side } from "./decide.ts";
import type { Modern } from "./modern.ts";
import type { Migration } from "./migration.ts";

/** What comparing takes of the core. */
type ComparedCore = Pick<Core, "settings" | "totalTimeout" | "errors" | "cache" | "observer">;

/** One request that the gateway has answered. */
type AnsweredRequest = {
  context: Context;
  /** Answers by legacy. */
  next: Backend;
  answered: Served;
  /** The side that made the answer. */
  backend: Side;
};

/** One side's answer. `bytes`: its size. `source`: the reply of legacy's that it was made of, where legacy was asked for it. */
type SideAnswer = GivenAnswer & { bytes: number; source?: LegacyReply | undefined };

type SideReply = SideAnswer | { failed: string };

/** Bytes of compared answers a second. */
const MAX_BYTES = 16 * 1024 ** 2;

/**
 * Compares answered requests on both sides, in the background. `rate`: comparisons that start in a second; as many run at a time, since one
 * whose sides differ takes a second. `recheck`: milliseconds until a mismatch is checked again.
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
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let shed = 0;
  let tokens = rate;
  // The size is known only afterwards, so the credit may go negative; it then blocks later comparisons until it recovers.
  let credit = MAX_BYTES;
  let filledAt = performance.now();

  /** Whether one more comparison may start. Those beyond the budget are left out, not queued. */
  const enter = (): boolean => {
    const seconds = (performance.now() - filledAt) / 1000;
    filledAt = performance.now();
    tokens = Math.min(rate, tokens + seconds * rate);
    credit = Math.min(MAX_BYTES, credit + seconds * MAX_BYTES);
    const isFree = running.size < rate && tokens >= 1 && credit > 0;
    if (isFree) tokens--;
    else shed++;
    return isFree;
  };

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
    return "failed" in reply ? reply : given(reply.status, reply.contentType, reply.text);
  };

  /**
   * Compares both sides once: the answer that was served with that of the other side, or, `again`, two new ones past the caches.
   * `differences` is `undefined` if one side gave no answer that can be compared.
   */
  const compareOnce = async (
    about: AnsweredRequest,
    canonical: CanonicalRequest,
    again: boolean,
  ): Promise<Difference[] | undefined> => {
    const { endpoint } = about.context;
    const [expected, candidate] = await Promise.all([
      about.backend === "legacy" && !again ? servedAnswer(about.answered) : askLegacy(about),
      about.backend === "modern" && !again ? servedAnswer(about.answered) : askModern(about, canonical, again),
    ]);
    for (const one of [expected, candidate]) credit -= "bytes" in one ? one.bytes : 0;
    // If legacy fails, there is no expectation. Failures of modern are counted by its track.
    if ("failed" in expected || "failed" in candidate || expected.status >= 500) return undefined;
    if (expected.bytes > MAX_COMPARED_BYTES || candidate.bytes > MAX_COMPARED_BYTES) return undefined;
    const ledger = migration.ledger();
    return compareAnswers(
      {
        endpoint: endpoint.name,
        output: endpoint.output,
        ledger,
        origin: originOf(endpoint, expected),
        whyUnserved: (one) => whyUnserved(endpoint, { errors, ledger }, one),
      },
      expected,
      candidate,
    );
  };

  /** A mismatch is checked again before it counts. */
  const compare = async (about: AnsweredRequest): Promise<void> => {
    const { endpoint, input, legacy, key } = about.context;
    const canonical = canonicalRequest(endpoint, input, modern.routes[endpoint.name]);
    let differences = await compareOnce(about, canonical, false);
    if (differences?.some(({ kind }) => kind === "unexplained")) {
      await sleep(recheck, undefined, { signal: stopping.signal, ref: false });
      const second = await compareOnce(about, canonical, true);
      differences = second && markDrift(differences, second);
      // Modern no longer gives the cached answer that was served.
      if (about.backend === "modern" && about.answered.how.hit && differences?.some(({ kind }) => kind === "drift"))
        void cache.invalidate({ endpoint: endpoint.name, soft: false });
    }
    if (differences === undefined) return;
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
    compare(about: AnsweredRequest): void {
      if (stopping.signal.aborted || !enter()) return;
      const one = compare(about)
        .catch((error: Error) => {
          if (!stopping.signal.aborted) observer.event("internal_error", { error: error.stack });
        })
        .finally(() => running.delete(one));
      running.add(one);
    },
    /** The number of comparisons that the budget had no room for. */
    shed: () => shed,
    /** Stops comparing, and resolves when the running comparisons have ended. */
    async idle(): Promise<void> {
      stopping.abort();
      await Promise.all(running);
    },
  };
};

/** No client waits for it: it takes no client's turn, and its failures count for none. `timeout`: milliseconds. */
const mirrored = (context: Context, timeout: number): Context => ({
  ...withoutClient(context, timeout),
  headers: [...context.headers, "gateway-mirror", "1"],
  client: "",
});

const servedAnswer = (answered: Served): SideAnswer => {
  const { status, body } = answered.answer;
  return given(status, "application/json", body);
};

const given = (status: number, contentType: string, body: string | Buffer): SideAnswer => ({
  // Parsing a larger one would hold up callers, so it is not compared.
  ...(body.length > MAX_COMPARED_BYTES
    ? { status, contentType, body: undefined }
    : parseAnswer(status, contentType, body.toString())),
  bytes: body.length,
});

/** Legacy's values, and the rules that made the expected ones of them. Of an answer that is cached or merged only the rules are known. */
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
