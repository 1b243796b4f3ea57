import { HIDDEN, openSecrets } from "./secrets.ts";

/** Characters of a target that are looked at: what stands behind them is not shown. */
const MAX_LOOKED_AT = 2000;

/** Nothing in it can be a secret: no name of one, no encoding, no letters and digits in a row that are as long as a key. */
const harmless = /^(?!.*(?:key|sess|sid|auth|token|cookie|secret|pass|\w{32}))[\w/.~,-]*$/i;
/** A name whose value follows it, in a query or as the next segment of a path. */
const secretName =
  /^(?:x[-_])?(?:api[-_ ]?key|key|apikey|session(?:[-_]\w+)?|ci[-_]session|phpsessid|sid|authorization|auth|(?:set-)?cookie|token|access[-_]token|secret|password)$/i;
/** As long as a key of legacy, which has 32 hexadecimal digits. */
const longRun = /[A-Za-z0-9]{32}/;
const secrets = openSecrets();

/** Path and query for a log, `/data/61?api_key=(not shown)`: without `keys` wherever they stand, and without all else that may be one. */
export const scrubTarget = (target: string, keys: readonly string[] = []): string =>
  scrubTokens(target, keys, /([/?&=])/);

/** A client's `User-Agent` for a log, without `keys` and all else that may be one. */
export const scrubAgent = (agent: string, keys: readonly string[] = []): string =>
  scrubTokens(agent, keys, /([ ;,()/=]+)/);

const scrubTokens = (text: string, keys: readonly string[], delimiters: RegExp): string => {
  if (text.length <= MAX_LOOKED_AT && harmless.test(text) && !holdsOne(text, keys)) return text;
  const looked = text.length <= MAX_LOOKED_AT ? text : text.slice(0, MAX_LOOKED_AT);
  let before = "";
  const shown = looked.split(delimiters).map((token, at, all) => {
    if (at % 2 === 1) return token;
    const isCut = looked !== text && at === all.length - 1;
    const plain = decoded(token);
    const isNamed = secretName.test(before.trim());
    // A delimiter in a row has nothing before it.
    if (plain !== "") before = plain;
    // As it was sent, too: decoding takes the first two digits of a key behind a bare "%" for an escape.
    const isHidden = isCut || isNamed || isSecret(plain, keys) || (plain !== token && isSecret(token, keys));
    return plain !== "" && isHidden ? HIDDEN : token;
  });
  return shown.join("");
};

const isSecret = (text: string, keys: readonly string[]): boolean =>
  longRun.test(text) || holdsOne(text, keys) || secrets.text(text) !== text;

const holdsOne = (text: string, keys: readonly string[]): boolean => {
  if (keys.length === 0) return false;
  const lower = text.toLowerCase();
  return keys.some((key) => lower.includes(key.toLowerCase()));
};

/** Rounds of percent-encoding that are undone. */
const MAX_ROUNDS = 8;

/** `%2561` -> `a`; invalid percent-encoding stays, and `+` is a blank. */
const decoded = (token: string): string => {
  let text = token.replaceAll("+", " ");
  for (let round = 0; round < MAX_ROUNDS && text.includes("%"); round++) {
    const next = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (next === text) break;
    text = next;
  }
  return text;
};
