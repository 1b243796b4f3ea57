import type { IncomingHttpHeaders } from "node:http";
import { queryOf } from "../../http/requestTarget.ts";
import { keysInHeaders, legacyKeyOf } from "../../legacy/formFields.ts";

/** What a request with a body says of itself, and the beginning of that body where it was seen. */
export type Seen = { headers: IncomingHttpHeaders; target: string; body?: string | undefined };

/** The key a request comes with, in lower case, since legacy compares keys in any; also one in headers, which legacy does not read. */
export const keyOf = ({ headers, target, body = "" }: Seen): string | undefined => {
  const key = (legacyKeyOf(queryOf(target), headers["content-type"], body) ?? inHeaders(headers))?.trim().toLowerCase();
  return key === "" || key === "0" ? undefined : key;
};

const inHeaders = ({ authorization, "x-api-key": own }: IncomingHttpHeaders): string | undefined => {
  if (authorization === undefined && own === undefined) return undefined;
  return keysInHeaders([
    ["x-api-key", String(own ?? "")],
    ["authorization", authorization ?? ""],
  ])[0];
};
