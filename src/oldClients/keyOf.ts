import type { IncomingHttpHeaders } from "node:http";
import { keysInForm, keysInHeaders, keysInParts } from "../corpus/keys.ts";
import { queryOf } from "../gateway/paths.ts";

/** What a request with a body says of itself, and the beginning of that body where it was seen. */
export type Seen = { headers: IncomingHttpHeaders; target: string; body?: string | undefined };

/** The key a request comes with, as legacy compares them: without a difference of case, and `0` is nobody's. */
export const keyOf = ({ headers, target, body }: Seen): string | undefined => {
  const key = (lastOf(keysInForm(queryOf(target))) ?? inBody(headers, body) ?? inHeaders(headers))
    ?.trim()
    .toLowerCase();
  return key === "" || key === "0" ? undefined : key;
};

/** PHP takes the last of several. */
const lastOf = (keys: readonly string[]): string | undefined => keys.at(-1);

const inBody = ({ "content-type": type = "" }: IncomingHttpHeaders, body: string | undefined): string | undefined => {
  if (body === undefined) return undefined;
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return lastOf(keysInForm(body));
  return /^multipart\/form-data\b/i.test(type) ? lastOf(keysInParts(body)) : undefined;
};

const inHeaders = ({ authorization, "x-api-key": own }: IncomingHttpHeaders): string | undefined => {
  if (authorization === undefined && own === undefined) return undefined;
  return keysInHeaders([
    ["x-api-key", String(own ?? "")],
    ["authorization", authorization ?? ""],
  ])[0];
};
