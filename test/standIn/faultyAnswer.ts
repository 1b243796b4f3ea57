import { isObject, type Json, type Rule } from "../../src/rules/rule.ts";
import { type DocumentFault, documentFaults, type Fault } from "./fault.ts";
import { type Played, faultyDocument } from "./faultyDocument.ts";

/** An answer with its document. */
type Whole = { status: number; contentType: string; body: Json };

/** Plays the faults that leave an answer on it, and tells what they did. An answer of 500 and above is wrong enough. */
export const faultyAnswer = (
  output: Rule,
  answer: Whole,
  faults: readonly Fault[],
): { answer: Whole; done: Played[] } => {
  if (answer.status >= 500) return { answer, done: [] };
  const isError = answer.status >= 400;
  // A fault of the whole answer comes alone.
  for (const fault of faults) {
    if (fault.fault === "otherStatus" && statusInstead(answer, fault) !== answer.status)
      return otherStatus(answer, fault);
    if (fault.fault === "problemJson" && isError) return problemJson(answer, fault);
  }
  const fitting = faults.filter(
    (fault): fault is Fault & { fault: DocumentFault } =>
      (documentFaults as readonly string[]).includes(fault.fault) &&
      // Errors are meant only where the path says so.
      (!isError || fault.path?.startsWith("/detail") === true),
  );
  const { document, done } = faultyDocument(isError ? undefined : output, answer.body, fitting);
  return { answer: { ...answer, body: document }, done };
};

const statusInstead = ({ status }: Whole, fault: Fault): number =>
  fault.status ?? (status < 400 ? 404 : status === 404 ? 410 : status === 400 ? 422 : 400);

const otherStatus = (answer: Whole, fault: Fault): { answer: Whole; done: Played[] } => {
  const status = statusInstead(answer, fault);
  const body = answer.status < 400 && status >= 400 ? { detail: "Not as it should be." } : answer.body;
  return {
    answer: { ...answer, status, body },
    done: [{ fault, seen: { path: "status", form: "status", as: "difference" } }],
  };
};

/** The form of RFC 9457 for `{"detail": …}`. */
const problemJson = (answer: Whole, fault: Fault): { answer: Whole; done: Played[] } => {
  const detail = isObject(answer.body) ? (answer.body["detail"] as Json) : "";
  const said = isObject(detail) ? detail["message"] : detail;
  const text = typeof said === "string" ? said : "Wrong input.";
  const body = { type: "about:blank", title: "Error", status: answer.status, detail: text };
  const seen = (path: string, form: "value" | "type" | "extra") => ({ path, form, as: "difference" }) as const;
  return {
    answer: { ...answer, contentType: "application/problem+json", body },
    done: [
      seen("content-type", "value"),
      ...(["/type", "/title", "/status"] as const).map((path) => seen(path, "extra")),
      ...(text === detail ? [] : [seen("/detail", "type")]),
    ].map((one) => ({ fault, seen: one })),
  };
};
