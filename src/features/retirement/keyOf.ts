import type { IncomingHttpHeaders } from "node:http";
import { queryOf } from "../../http/requestTarget.ts";
import { keysInHeaders, legacyKeyOf } from "../../legacy/formFields.ts";

/** The parts of a request that may hold its key. `body`: the beginning of its body, if it was read. */
export type Seen = { headers: IncomingHttpHeaders; target: string; body?: string | undefined };

/** The key of a request in lower case, since legacy ignores the case of keys. Keys in headers count too, although legacy does not read them. */
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
