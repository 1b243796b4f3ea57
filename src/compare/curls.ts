import type { CanonicalRequest } from "../endpoint/canonicalRequest.ts";
import type { Scrub } from "../scrub/scrub.ts";
import type { LegacyExchange } from "./answers.ts";
import type { CurlPair } from "./report.ts";

export type Addresses = {
  /** Where legacy's interface begins: `https://host/api/v1`. */
  legacy: string;
  /** Where the new one does: the candidate's, or a gateway's. */
  candidate: string;
  /** The environment variable that holds the key. */
  keyName: string | undefined;
};

/** What legacy is asked, whatever it answers. */
type AskedOfLegacy = Pick<LegacyExchange, "request" | "form">;

/** One argument of a shell's command line. */
const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const asItIs = { text: (text: string) => text };

/**
 * The request as commands that anybody can run again. The key that it was made with is named by `keyName`, never shown; `scrub` takes
 * it out of what was asked, too.
 */
export const curlsOf = (
  { legacy, candidate, keyName }: Addresses,
  { method, path, body }: CanonicalRequest,
  isKeyed: boolean,
  exchange: AskedOfLegacy | undefined,
  scrub: Pick<Scrub, "text"> = asItIs,
): CurlPair => {
  const key = isKeyed && keyName !== undefined ? ` -H "X-API-Key: $${keyName}"` : "";
  const json =
    body === undefined
      ? ""
      : ` -H 'Content-Type: application/json' -d ${shellQuoted(scrub.text(JSON.stringify(body)))}`;
  const candidateCurl = `curl -si ${method === "POST" && body === undefined ? "-X POST " : ""}${shellQuoted(candidate + scrub.text(path))}${key}${json}`;
  return exchange === undefined
    ? { candidate: candidateCurl }
    : { legacy: legacyCurl(legacy, exchange, isKeyed ? keyName : undefined, scrub), candidate: candidateCurl };
};

const legacyCurl = (
  base: string,
  { request, form }: AskedOfLegacy,
  keyName: string | undefined,
  { text }: Pick<Scrub, "text">,
): string => {
  const fields = Object.entries(request.form ?? {}).map(
    ([name, value]) => ` --data-urlencode ${shellQuoted(`${name}=${text(value)}`)}`,
  );
  const key =
    keyName === undefined ? "" : ` ${request.method === "GET" ? "-G " : ""}--data-urlencode "api_key=$${keyName}"`;
  return `curl -si ${shellQuoted(`${base}/${form}${text(request.path)}`)}${fields.join("")}${key}`;
};
