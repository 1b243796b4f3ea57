import { type Json, type LegacyReading, type LegacyRequest, parseJson } from "../../src/catalogue/index.ts";
import { truncate } from "../../src/operation/index.ts";

/**
 * An answer of any backend in the new interface's terms. `body`: `undefined` if it is not JSON; `text` is then its
 * beginning.
 */
export type GivenAnswer = { status: number; contentType?: string; body: Json | undefined; text?: string };

/** A request to legacy, below its interface's path, and the format of its answer. */
export type LegacyQuery = { request: LegacyRequest; format: "json" | "xml" };

/** A request to legacy, and the answer. */
export type AnsweredExchange = LegacyQuery & { status: number; reading: LegacyReading };

/** The most characters of a body that is not JSON. */
const MAX_TEXT = 400;

/** Reads an answer's text as JSON. Any other text is truncated. */
export const parseAnswer = (status: number, contentType: string | undefined, text: string): GivenAnswer => {
  const body = parseJson(text);
  return {
    status,
    ...(contentType === undefined ? {} : { contentType }),
    body,
    ...(body === undefined ? { text: truncate(text, MAX_TEXT) } : {}),
  };
};
