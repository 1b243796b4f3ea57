import type { CanonicalRequest } from "./canonicalRequest.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { LegacyQuery } from "./answers.ts";

/** The commands that send the same request to either side; they name the environment variable of the key. */
export type CurlPair = { legacy?: string; candidate: string };

/** The commands for the sides that got a request. */
export const commandsOf = ({ legacy, candidate }: Partial<CurlPair>): string[] =>
  [legacy, candidate].filter((command) => command !== undefined);

/** The beginnings of both interfaces, and the name of the key's variable. */
export type Addresses = {
  /** The beginning of legacy's interface: `https://host/api/v1`. */
  legacy: string;
  /** The beginning of the new interface: the candidate's, or a gateway's. */
  candidate: string;
  /** The environment variable that holds the key. */
  keyName: string | undefined;
};

/** An argument of a shell's command line. */
export const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const unscrubbed = { text: (text: string) => text };

/**
 * The commands that send the request again. They name the variable of the key and never show the key; `scrub` removes
 * it from the request. `legacyQuery`: the request to legacy, if there is one.
 */
export const curlsOf = (
  { legacy, candidate, keyName }: Addresses,
  { method, path, body }: CanonicalRequest,
  isKeyed: boolean,
  legacyQuery: LegacyQuery | undefined,
  scrub: Pick<Secrets, "text"> = unscrubbed,
): CurlPair => {
  const key = isKeyed && keyName !== undefined ? ` -H "X-API-Key: $${keyName}"` : "";
  const json =
    body === undefined
      ? ""
      : ` -H 'Content-Type: application/json' -d ${shellQuoted(scrub.text(JSON.stringify(body)))}`;
  const candidateCurl = `curl -si ${method === "POST" && body === undefined ? "-X POST " : ""}${shellQuoted(candidate + scrub.text(path))}${key}${json}`;
  return legacyQuery === undefined
    ? { candidate: candidateCurl }
    : { legacy: legacyCurl(legacy, legacyQuery, isKeyed ? keyName : undefined, scrub), candidate: candidateCurl };
};

const legacyCurl = (
  base: string,
  { request, format }: LegacyQuery,
  keyName: string | undefined,
  { text }: Pick<Secrets, "text">,
): string => {
  const fields = Object.entries(request.form ?? {}).map(
    ([name, value]) => ` --data-urlencode ${shellQuoted(`${name}=${text(value)}`)}`,
  );
  const key =
    keyName === undefined ? "" : ` ${request.method === "GET" ? "-G " : ""}--data-urlencode "api_key=$${keyName}"`;
  return `curl -si ${shellQuoted(`${base}/${format}${text(request.path)}`)}${fields.join("")}${key}`;
};
