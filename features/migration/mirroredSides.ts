import { type GivenAnswer, parseAnswer } from "../../libraries/compare/answers.ts";
import type { CanonicalRequest } from "../../libraries/compare/canonicalRequest.ts";
import { MAX_COMPARED_BYTES, type Origin } from "../../libraries/compare/compareAnswers.ts";
import { isSame } from "../../libraries/compare/difference.ts";
import { originIn } from "../../libraries/compare/explain.ts";
import { legacyBody } from "../../libraries/compare/explainAnswer.ts";
import { collectChanges, type LegacyReading, readLegacy } from "../../src/catalogue/index.ts";
import { type Context, type Handler, type Served, type UpstreamReply, withoutClient } from "../../src/gateway/index.ts";
import type { Side } from "./decide.ts";
import type { Migration } from "./migration.ts";
import type { Modern } from "./modern.ts";

/** One request that the gateway has answered. */
export type AnsweredRequest = {
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
type SideAnswer = GivenAnswer & { bytes: number; source?: UpstreamReply | undefined };

type SideReply = SideAnswer | { failed: string };

/** Makes the function that asks both sides for the answers that are compared. `legacyTimeout`: milliseconds. */
export const openMirroredSides = (modern: Modern, migration: Pick<Migration, "track">, legacyTimeout: number) => {
  const askLegacy = async ({ context, next }: AnsweredRequest): Promise<SideReply> => {
    let source: UpstreamReply | undefined;
    const onReply = (reply: UpstreamReply) =>
      void (source = reply.body.length > MAX_COMPARED_BYTES ? undefined : reply);
    const answered = await next({ ...mirrored(context, legacyTimeout), bypass: true, onReply });
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
  return (
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
export const originOf = ({ output, readXml }: Context["endpoint"], { source, status, body }: SideAnswer): Origin => {
  const { note } = collectChanges();
  let reading: LegacyReading | undefined;
  let ofDocument: Origin | undefined;
  return (at) => {
    if (at === "status") return { legacy: source?.status, rules: [] };
    reading ??= source && readLegacy(source.body, readXml);
    const document = reading?.is === "document" ? reading.document : undefined;
    if (at === "" && reading && document === undefined) return { legacy: legacyBody(reading), rules: [] };
    const isSource = () => document && status === 200 && isSame(output.read(document, note, document), body);
    ofDocument ??= originIn(output, isSource() ? document : undefined);
    return ofDocument(at);
  };
};
