import type { CanonicalRequest } from "../endpoint/canonicalRequest.ts";
import type { Secrets } from "../scrub/secrets.ts";
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
type LegacyQuestion = Pick<LegacyExchange, "request" | "form">;

/** One argument of a shell's command line. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const asItIs = { text: (text: string) => text };

/**
 * The request as commands that anybody can run again. The key that it was made with is named by `keyName`, never shown; `secrets` takes
 * it out of what was asked, too.
 */
export const curlsOf = (
  { legacy, candidate, keyName }: Addresses,
  { method, path, body }: CanonicalRequest,
  isKeyed: boolean,
  exchange: LegacyQuestion | undefined,
  secrets: Pick<Secrets, "text"> = asItIs,
): CurlPair => {
  const key = isKeyed && keyName !== undefined ? ` -H "X-API-Key: $${keyName}"` : "";
  const json =
    body === undefined ? "" : ` -H 'Content-Type: application/json' -d ${quoted(secrets.text(JSON.stringify(body)))}`;
  const asked = `curl -si ${method === "POST" && body === undefined ? "-X POST " : ""}${quoted(candidate + secrets.text(path))}${key}${json}`;
  return exchange === undefined
    ? { candidate: asked }
    : { legacy: legacyCurl(legacy, exchange, isKeyed ? keyName : undefined, secrets), candidate: asked };
};

const legacyCurl = (
  base: string,
  { request, form }: LegacyQuestion,
  keyName: string | undefined,
  { text }: Pick<Secrets, "text">,
): string => {
  const fields = Object.entries(request.form ?? {}).map(
    ([name, value]) => ` --data-urlencode ${quoted(`${name}=${text(value)}`)}`,
  );
  const key =
    keyName === undefined ? "" : ` ${request.method === "GET" ? "-G " : ""}--data-urlencode "api_key=$${keyName}"`;
  return `curl -si ${quoted(`${base}/${form}${text(request.path)}`)}${fields.join("")}${key}`;
};
