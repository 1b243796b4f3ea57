import { type Observer, scrubAgent, truncate } from "../../operation/index.ts";
import type { UpstreamReply } from "../upstream/ask.ts";

/** Bytes of a body that are read; `MAX_SHOWN`: characters of its words and of its type in a log line. */
const SCANNED_BYTES = 1024;
const MAX_SHOWN = 60;

type IllAnswer = Pick<UpstreamReply, "status" | "contentType" | "judgement" | "body">;

/** True if an answer is not from legacy itself, and has to be reported. */
export const isIll = ({ judgement }: Pick<UpstreamReply, "judgement">): boolean =>
  judgement === "ill" || judgement === "refused";

/**
 * Reports an answer that is not from legacy itself. `key`: the caller's. `isOfClient`: the request had its client's
 * address, by which a server in front of legacy may refuse or limit that client only.
 */
export const reportIll = (
  observer: Pick<Observer, "event">,
  endpoint: string,
  answer: IllAnswer,
  { key, isOfClient }: { key: string | undefined; isOfClient: boolean },
): void => {
  const isForOne = isOfClient && (answer.status === 429 || answer.judgement === "refused");
  observer.event(isForOne ? "legacy_refused_client" : "legacy_ill", { endpoint, ...describe(answer, key) });
};

/** Describes an answer for a log line, without the key that a page may echo. */
const describe = (
  { status, contentType, judgement, body }: IllAnswer,
  key: string | undefined,
): Record<string, unknown> => {
  const keys = key === undefined ? [] : [key];
  const shown = (text: string): string => truncate(scrubAgent(text, keys), MAX_SHOWN);
  const text = body.toString("utf8", 0, SCANNED_BYTES).replace(/<[^>]*>?/g, " ");
  return { status, type: shown(contentType), judgement, words: shown(text.replace(/\s+/g, " ").trim().slice(0, 200)) };
};
