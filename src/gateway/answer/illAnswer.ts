import { scrubAgent } from "../../operation/secrets/scrub.ts";
import { truncate } from "../../operation/secrets/truncate.ts";
import type { UpstreamReply } from "../upstream/ask.ts";

/** Bytes of a body that are looked at, and characters that a line has of its words and of its type. */
const LOOKED_AT = 1024;
const MAX_SHOWN = 60;

/** Whether an answer is not legacy's own; the event `legacy_ill` reports it. */
export const isIll = ({ judgement }: Pick<UpstreamReply, "judgement">): boolean =>
  judgement === "ill" || judgement === "refused";

/** What the event `legacy_ill` says of an answer: a page may echo a key, which no line shows. */
export const describeAnswer = (
  { status, contentType, judgement, body }: Pick<UpstreamReply, "status" | "contentType" | "judgement" | "body">,
  key: string | undefined,
): Record<string, unknown> => {
  const keys = key === undefined ? [] : [key];
  const shown = (text: string): string => truncate(scrubAgent(text, keys), MAX_SHOWN);
  const text = body.toString("utf8", 0, LOOKED_AT).replace(/<[^>]*>?/g, " ");
  return { status, type: shown(contentType), judgement, words: shown(text.replace(/\s+/g, " ").trim().slice(0, 200)) };
};
