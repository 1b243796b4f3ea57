import type { Json } from "../rules/rule.ts";
import type { LegacyReading } from "../legacy/reading.ts";
import type { LegacyRequest } from "../endpoint/legacyRequest.ts";

/** An answer of the new interface, whoever gave it; a `body` that is no JSON is `undefined`, with its beginning as `text`. */
export type GivenAnswer = { status: number; contentType?: string; body: Json | undefined; text?: string };

/** What legacy was asked, and what came: an answer, or why there was none. */
export type LegacyExchange = { request: LegacyRequest; form: "json" | "xml" } & (
  | { status: number; reading: LegacyReading }
  | { failed: string }
);
