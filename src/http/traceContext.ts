import type { IncomingHttpHeaders } from "node:http";

/** The members of a `traceparent`, in hexadecimal digits. */
const traceparentForm =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/;

/** Characters that a `tracestate` may have; the recommendation asks for 512 at least. */
const MAX_STATE = 1024;
const MAX_MEMBERS = 32;
const member = /^[ \t]*(?:[a-z0-9][\w*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256})?[ \t]*$/;

/** The trace that a request belongs to. */
type TraceContext = { traceparent: string; tracestate?: string };

/** The trace context of a client (W3C Trace Context, level 1); empty where it has none, or one that is not valid. */
export const traceContextOf = (headers: IncomingHttpHeaders): TraceContext | undefined => {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string" || traceparent.length > MAX_STATE) return undefined;
  const [, version, , , , rest] = traceparentForm.exec(traceparent) ?? [];
  // Version 00 has these four members; a later one may have more.
  if (version === undefined || (version === "00" && rest !== undefined)) return undefined;
  const state = Array.isArray(tracestate) ? tracestate.join(",") : tracestate;
  return state === undefined || !isState(state) ? { traceparent } : { traceparent, tracestate: state };
};

const isState = (text: string): boolean => {
  if (text.length > MAX_STATE) return false;
  const members = text.split(",");
  return members.length <= MAX_MEMBERS && members.every((one) => member.test(one));
};
