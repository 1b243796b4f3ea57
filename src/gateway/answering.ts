import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { transform } from "../endpoint/transform.ts";
import type { Caller, Failed, LegacyReply } from "../legacy/client.ts";
import type { JsonObject } from "../rules/rule.ts";
import { outcomeOf, statusOf } from "../outcome/legacyOutcome.ts";
import type { Machine as WholeMachine } from "./machine.ts";
import type { Prepared } from "./prepared.ts";

/** What answering one request takes; it knows no cache. */
export type Machine = Omit<
  WholeMachine,
  "cache" | "unconfirmed" | "meter" | "migration" | "modern" | "addresses" | "privateRows"
>;

/** Of a write that legacy gave no answer of its own to: it was not carried out for certain, or it may have been. */
export type Unanswered = "refused" | "unknown";

/** Our document, or how else it ended; `status` where legacy's own has to stand. */
export type Conclusion = { ours: unknown } | { outcome: Outcome; status?: number; unanswered?: Unanswered };

type Input = Record<string, unknown>;
type Unfit = { mismatch: string[] };

/** Asks legacy and makes our answer of what it says. */
export const conclude = async (
  machine: Machine,
  endpoint: Prepared,
  request: LegacyRequest,
  caller: Caller,
  input: Input,
): Promise<Conclusion> => {
  const reply = await askSound(machine, endpoint, request, caller);
  if ("failed" in reply) return { outcome: reply.failed, unanswered: reply.isUnsent ? "refused" : "unknown" };
  const { reading, status } = reply;
  const { observer } = machine;
  // A front refuses by a 4xx page; legacy's own errors are 412.
  if (reading.is === "unreadable")
    return {
      outcome: noAnswer,
      unanswered: status >= 400 && status < 500 && status !== 412 ? "refused" : "unknown",
    };
  if (reading.is === "document" && status !== 200) {
    observer.event("odd_status", { endpoint: endpoint.name, status });
    return { outcome: noAnswer, unanswered: "unknown" };
  }
  if (reading.is === "error") {
    const outcome = endpoint.errors?.[reading.code] ?? outcomeOf(reading, machine.errors);
    if (outcome.kind === "unknown" || outcome.kind === "misasked")
      observer.event(`code_${outcome.kind}`, { endpoint: endpoint.name, code: reading.code });
    if (reading.code === endpoint.settle?.code) return (await settle(machine, endpoint, caller, input)) ?? { outcome };
    const kept = statusOf(outcome, status);
    return {
      outcome,
      ...(kept === undefined ? {} : { status: kept }),
      // Without its database legacy looks at nothing.
      ...(outcome.kind === "unavailable" ? { unanswered: "refused" as const } : {}),
    };
  }
  const concluded = read(machine, endpoint, reading.document);
  if (!("mismatch" in concluded)) return concluded;
  const again =
    reading.form === "json" && request.method === "GET" && endpoint.hasMarkup
      ? await readXmlForm(machine, endpoint, request, caller)
      : undefined;
  if (again && !("mismatch" in again)) return again;
  observer.event("schema_mismatch", { endpoint: endpoint.name, places: (again ?? concluded).mismatch });
  return { outcome: { kind: "broken", message: "The legacy interface's answer is not what it should be." } };
};

export const noAnswer: Outcome = {
  kind: "broken",
  message: "The legacy interface answered with something that is no answer.",
};

const read = ({ knowledge }: Machine, endpoint: Prepared, document: JsonObject): Conclusion | Unfit => {
  const judged = endpoint.judge?.(document, knowledge);
  return judged ? { outcome: judged } : transform(endpoint.output, document, endpoint.note);
};

/** Markup makes an object of a text in JSON; the XML form has the text. */
const readXmlForm = async (machine: Machine, endpoint: Prepared, request: LegacyRequest, caller: Caller) => {
  const reply = await machine.client(request, "xml", caller, endpoint.readXml);
  return "reading" in reply && reply.reading.is === "document"
    ? read(machine, endpoint, reply.reading.document)
    : undefined;
};

/** An answer that can be read: where the JSON cannot, the same resource's XML form usually is sound. Or that one alone. */
export const askSound = async (
  machine: Pick<Machine, "client" | "observer" | "keys" | "errors">,
  endpoint: Pick<Prepared, "name" | "readXml">,
  request: LegacyRequest,
  caller: Caller,
  form: "json" | "xml" = "json",
): Promise<LegacyReply | Failed> => {
  const { client, observer } = machine;
  const name = endpoint.name;
  let reply = await client(request, form, caller, endpoint.readXml);
  // An empty 500 and a front's 5xx are no badly written answers but none; a POST is never sent twice.
  if (
    form === "json" &&
    isUnreadable(reply) &&
    (reply.status < 500 || (reply.status === 500 && !reply.reading.empty)) &&
    request.method === "GET"
  ) {
    observer.event("json_broken", { endpoint: name, path: request.path, why: reply.reading.why });
    reply = await client(request, "xml", caller, endpoint.readXml);
  }
  if ("failed" in reply) observer.event("legacy_failed", { endpoint: name, why: reply.why });
  else if (isUnreadable(reply))
    observer.event("legacy_unreadable", {
      endpoint: name,
      path: request.path,
      status: reply.status,
      why: reply.reading.why,
    });
  else noteKey(machine, caller, reply);
  return reply;
};

const isUnreadable = (reply: LegacyReply | Failed): reply is LegacyReply & { reading: { is: "unreadable" } } =>
  "reading" in reply && reply.reading.is === "unreadable";

/** Legacy looks at the key before anything else, but at its database before the key. */
const noteKey = (
  { keys, errors }: Pick<Machine, "keys" | "errors">,
  { key }: Caller,
  { reading, status }: LegacyReply,
) => {
  if (key === undefined || (reading.is === "document" && status !== 200)) return;
  const kind = reading.is === "error" ? outcomeOf(reading, errors).kind : undefined;
  if (kind === "unauthenticated") keys.refused(key);
  else if (kind !== "unavailable" && kind !== "unknown") keys.accepted(key);
};

/** Looks where the truth stands, when legacy's error does not tell it. */
const settle = async (
  machine: Machine,
  endpoint: Prepared,
  caller: Caller,
  input: Input,
): Promise<Conclusion | undefined> => {
  const look = endpoint.settle?.look(input);
  if (!look || "unsent" in look) return undefined;
  const reply = await askSound(machine, endpoint, look, caller);
  if (!("reading" in reply) || reply.reading.is !== "document") return undefined;
  const meant = endpoint.settle?.answer(input, reply.reading.document);
  const concluded = meant && read(machine, endpoint, meant);
  return concluded && !("mismatch" in concluded) ? concluded : undefined;
};
