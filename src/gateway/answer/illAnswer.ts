import { type Observer, scrubAgent, truncate } from "../../operation/index.ts";
import type { UpstreamReply } from "../upstream/ask.ts";

/** Bytes of a body that are looked at, and characters that a line has of its words and of its type. */
const LOOKED_AT = 1024;
const MAX_SHOWN = 60;

type IllAnswer = Pick<UpstreamReply, "status" | "contentType" | "judgement" | "body">;

/** Whether an answer is not legacy's own: it is to be reported. */
export const isIll = ({ judgement }: Pick<UpstreamReply, "judgement">): boolean =>
  judgement === "ill" || judgement === "refused";

/**
 * Reports an answer that is not legacy's own. `key`: the caller's. `isOfClient`: the request had its client's address,
 * by which what stands before legacy may refuse or limit that client alone.
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

/** What a line says of an answer: a page may echo a key, which no line shows. */
const describe = (
  { status, contentType, judgement, body }: IllAnswer,
  key: string | undefined,
): Record<string, unknown> => {
  const keys = key === undefined ? [] : [key];
  const shown = (text: string): string => truncate(scrubAgent(text, keys), MAX_SHOWN);
  const text = body.toString("utf8", 0, LOOKED_AT).replace(/<[^>]*>?/g, " ");
  return { status, type: shown(contentType), judgement, words: shown(text.replace(/\s+/g, " ").trim().slice(0, 200)) };
};
