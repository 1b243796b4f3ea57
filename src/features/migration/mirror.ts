import { parseAnswer } from "../../compare/answers.ts";
import { curlsOf } from "../../compare/curls.ts";
import { MAX_COMPARED_BYTES } from "../../compare/judge.ts";
import type { Answered } from "../../cache/reply.ts";
import { canonicalRequest, formatRequest } from "../../endpoint/canonicalRequest.ts";
import type { LegacyAnswer } from "../../legacy/client.ts";
import { whyUnserved } from "../../modern/whyUnserved.ts";
import type { Backend, EndpointRequest, RequestCaller } from "../../serve/backend.ts";
import type { MigrationServices } from "./askModern.ts";
import type { Side } from "./decide.ts";
import type { AskSide, Mirrored, SideAnswer } from "./shadow.ts";

/** The base URLs of both sides, for the commands that reproduce a difference. */
export type MirrorAddresses = { legacy: string; candidate: string };

type Answering = {
  request: EndpointRequest;
  caller: RequestCaller;
  /** Answers by legacy. */
  next: Backend;
  answered: Answered;
  /** The side that made the answer. */
  backend: Side;
};

/** One answered request for the comparison. The first comparison uses the answer that was served, and requests only the other side. */
export const mirrored = (
  { services, migration, modern }: MigrationServices,
  addresses: MirrorAddresses,
  { request, caller, next, answered, backend }: Answering,
): Mirrored => {
  const { endpoint, input, legacy } = request;
  const { key } = caller;
  const canonical = canonicalRequest(endpoint, input, modern.routes[endpoint.name]);
  const mirrorCaller = (timeout: number) => {
    const headers = [...caller.headers, "gateway-mirror", "1"];
    const deadline = Date.now() + timeout;
    // No client waits for it: it takes no client's turn, and its failures count for none.
    return { ...caller, headers, client: "", deadline, spent: { calls: 0, ms: 0 } };
  };
  const served = async () => {
    const { status, body } = "entry" in answered ? answered.entry : answered.representation;
    return given(status, "application/json", body);
  };
  const askLegacy: AskSide = async (again) => {
    if (backend === "legacy" && !again) return served();
    let source: LegacyAnswer | undefined;
    const onReply = (reply: LegacyAnswer) => void (source = reply.body.length > MAX_COMPARED_BYTES ? undefined : reply);
    const fetched = await next({ ...request, bypass: true }, { ...mirrorCaller(services.totalTimeout), onReply });
    if (fetched.isIncomplete) return { failed: "private rows may be lacking" };
    const { status, body } = "entry" in fetched.answered ? fetched.answered.entry : fetched.answered.representation;
    return { ...given(status, "application/json", body), source };
  };
  const askModern: AskSide = async (again) => {
    if (backend === "modern" && !again) return served();
    const started = performance.now();
    const reply = await modern.client.look(canonical, mirrorCaller(modern.timeout), again);
    const failed = "failed" in reply || reply.status >= 500;
    migration.track(endpoint.name).asked("modern", performance.now() - started, failed);
    return "failed" in reply ? reply : given(reply.status, reply.contentType, reply.text);
  };
  return {
    name: endpoint.name,
    endpoint,
    id: JSON.stringify([canonical.path, canonical.body]),
    question: formatRequest(canonical),
    key,
    legacy: askLegacy,
    modern: askModern,
    whyUnserved: (one) => whyUnserved(endpoint, { errors: services.errors, ledger: migration.ledger() }, one),
    ...(backend === "modern" && answered.how.hit === true
      ? { invalidate: () => void services.cache.invalidate({ endpoint: endpoint.name, soft: false }) }
      : {}),
    curl: (scrub) =>
      curlsOf(
        { ...addresses, keyName: "KEY" },
        canonical,
        key !== undefined,
        "unsent" in legacy ? undefined : { request: legacy, format: endpoint.format ?? "json" },
        scrub,
      ),
  };
};

const given = (status: number, contentType: string, body: string | Buffer): SideAnswer => ({
  // Parsing a larger one would hold up callers, so it is not compared.
  ...(body.length > MAX_COMPARED_BYTES
    ? { status, contentType, body: undefined }
    : parseAnswer(status, contentType, body.toString())),
  bytes: body.length,
});
