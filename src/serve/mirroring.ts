import { curlsOf } from "../compare/curls.ts";
import type { GivenAnswer } from "../compare/answers.ts";
import { parseAnswer } from "../compare/answers.ts";
import type { Answered } from "../cache/reply.ts";
import { canonicalRequest, formatRequest } from "../endpoint/canonicalRequest.ts";
import type { Backend } from "../features/migration/decide.ts";
import { MAX_COMPARED_BYTES } from "../compare/judge.ts";
import type { Mirrored, Side } from "../features/migration/shadow.ts";
import { whyUnserved } from "../modern/whyUnserved.ts";
import type { Services } from "./services.ts";
import type { PlannedRequest } from "./plan.ts";
import { askWith, missingRows } from "./privateRowsAdded.ts";
import type { PreparedEndpoint } from "./prepared.ts";

type Answering = {
  plan: PlannedRequest;
  key: string | undefined;
  headers: string[];
  answered: Answered;
  /** Who made the answer. */
  backend: Backend;
};

/** One answered question, as the comparison takes it: the side that answered has been asked already. */
export const mirrored = (
  services: Services,
  endpoint: PreparedEndpoint,
  { plan, key, headers, answered, backend }: Answering,
): Mirrored => {
  const request = canonicalRequest(endpoint, plan.input, services.modern?.routes[endpoint.name]);
  const caller = (timeout: number) => ({
    headers: [...headers, "gateway-mirror", "1"],
    deadline: Date.now() + timeout,
    ...(key === undefined ? {} : { key }),
  });
  const served = async () => {
    const { status, body } = "entry" in answered ? answered.entry : answered.representation;
    return given(status, "application/json", body);
  };
  const legacy: Side = async (again) => {
    if (backend === "legacy" && !again) return served();
    const asker = caller(services.totalTimeout);
    const missing = await missingRows(services, endpoint, plan.input, asker);
    if (missing === "incomplete" || missing === "refused" || (typeof missing === "object" && missing.isIncomplete))
      return { failed: "private rows may be lacking" };
    const { answer } = await askWith(services, endpoint, plan, asker, missing, { noCache: true });
    return given(answer.status, "application/json", answer.body);
  };
  const modern: Side = async (again) => {
    if (backend === "modern" && !again) return served();
    if (services.modern === undefined) return { failed: "there is no modern backend" };
    const started = performance.now();
    const reply = await services.modern.client.look(request, caller(services.modern.timeout), again);
    const failed = "failed" in reply || reply.status >= 500;
    services.migration.track(endpoint.name).asked("modern", performance.now() - started, failed);
    return "failed" in reply ? reply : given(reply.status, reply.contentType, reply.text);
  };
  return {
    name: endpoint.name,
    endpoint,
    id: JSON.stringify([request.path, request.body]),
    question: formatRequest(request),
    key,
    legacy,
    modern,
    whyUnserved: (one) => whyUnserved(endpoint, { errors: services.errors, ledger: services.migration.ledger() }, one),
    ...(backend === "modern" && answered.how.hit === true
      ? { forget: () => void services.cache.drop({ endpoint: endpoint.name, soft: false }) }
      : {}),
    curl: (scrub) =>
      curlsOf(
        { ...services.addresses, keyName: "KEY" },
        request,
        key !== undefined,
        "unsent" in plan.request ? undefined : { request: plan.request, format: "json" },
        scrub,
      ),
  };
};

const given = (status: number, contentType: string, body: string | Buffer): GivenAnswer & { bytes: number } => ({
  // Reading it would hold up callers: it is not compared.
  ...(body.length > MAX_COMPARED_BYTES
    ? { status, contentType, body: undefined }
    : parseAnswer(status, contentType, body.toString())),
  bytes: body.length,
});
