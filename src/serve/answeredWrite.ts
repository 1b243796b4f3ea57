import { type Beginning, plainBody } from "../proxy/heldAnswer.ts";

/**
 * What legacy's answer says of a write that passed through. `written`: legacy has looked at it, and what it is about may have changed. `unknown`:
 * it broke off or failed, before or after. `refused`: nothing was written.
 */
export type WriteFate = "written" | "unknown" | "refused";

/** What became of a write, by its answer. `refusals`: the codes of errors that legacy raises before it reads a request, always as XML. */
export const fateOf = (answer: Beginning | undefined, refusals: ReadonlySet<number>): WriteFate => {
  if (answer === undefined) return "unknown";
  const { status } = answer;
  const type = answer.headers["content-type"] ?? "";
  // A page is not legacy's interface: its front refuses by 4xx; one of another status may be what PHP wrote as it broke.
  const isPage = /^text\/html\b/i.test(type);
  if (status < 300) return isPage ? "unknown" : refusedIn(answer, type, refusals) ? "refused" : "written";
  if (status < 400) return "refused";
  if (isPage) return status < 500 ? "refused" : "unknown";
  // Legacy's own errors have a code, whatever their status; only legacy sends 412 and 450.
  const isOwn = status === 412 || status === 450 || hasCode(answer);
  if (!isOwn) return status < 500 ? "refused" : "unknown";
  return refusedIn(answer, type, refusals) ? "refused" : "written";
};

const hasCode = (answer: Beginning): boolean =>
  /^\s*\{\s*"error"\s*:\s*\{\s*"code"|^\s*(?:<\?xml[^>]{0,100}>\s*)?<oml:error/.test(beginningOf(answer));

const refusedIn = (answer: Beginning, type: string, refusals: ReadonlySet<number>): boolean => {
  if (!type.startsWith("text/xml")) return false;
  const found = /^\s*(?:<\?xml[^>]{0,100}>\s*)?<oml:error[^>]{0,200}>\s*<oml:code>\s*(\d{1,6})\s*</.exec(
    beginningOf(answer),
  );
  return found?.[1] !== undefined && refusals.has(Number(found[1]));
};

const beginningOf = (answer: Beginning): string => plainBody(answer).toString("latin1", 0, 4096);
