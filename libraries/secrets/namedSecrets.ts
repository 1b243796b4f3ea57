/** Names that are followed by a secret, in a query, a header, broken JSON or XML. */
const secretNames = String.raw`api[-_ ]?key|x-api-key|session_hash|ci_session|phpsessid|(?<![a-z0-9])sid|authorization`;

/**
 * The text between a name and its value: `=`, `:`, `">`, with quotes in any escaping. All repetitions are bounded: no
 * text takes quadratic time.
 */
const quote = String.raw`(?:\\{0,16}["']|&quot;|&#0*3[49];)`;
const between = String.raw`${quote}?[ \t]*(?:=|:|>)[ \t]*${quote}?`;
const scheme = String.raw`(?:(?:bearer|basic|digest|token)\s+)?`;
const value = String.raw`[^\s&;"'<>\\,)\]}]+`;

const named = [
  new RegExp(String.raw`((?:${secretNames})${between}${scheme})${value}`, "gi"),
  // After an encoded `=` or `:` the value ends at the first encoded character.
  new RegExp(String.raw`((?:${secretNames})%(?:25)*3[da])(?:(?!%)${value.slice(0, -1)})+`, "gi"),
  new RegExp(String.raw`((?:set-)?cookie:\s*[\w.-]+=)${value}`, "gi"),
  // Any other 32 hexadecimal digits may be a checksum.
  new RegExp(String.raw`(session\w{0,32}(?:${between}|%(?:25)*3d))[0-9a-f]{32}(?![0-9a-f])`, "gi"),
];

/** All cookies that a client sends, up to the end of the line. */
const cookies = /(?<![\w-])cookie:[ \t]*[^\r\n"\\<]+/gi;
const cookie = /((?:^cookie:|;)[ \t]*[\w.-]{1,256}=)[^\s;]+/gi;

/** `api_key=…`, `"api_key": "…"`, `Authorization: Bearer …`, `PHPSESSID=…` -> the same with `instead` */
export const withoutNamedSecrets = (text: string, instead: string): string =>
  named
    .reduce((before, pattern) => before.replaceAll(pattern, `$1${instead}`), text)
    .replaceAll(cookies, (line) => line.replaceAll(cookie, `$1${instead}`));

/** An address begins where a word does; also after `%3D` and `\n`, whose letters do not belong to it. */
const begin = String.raw`(?<![\\%]|%[0-9a-f])(?<=^|[^\p{L}\p{N}._+-]|%[0-9a-f]{2}|\\[bfnrt])`;
const local = String.raw`(?:[\p{L}\p{N}._+-]|%2b){1,64}`;
const at = String.raw`(@|%(?:25)*40|\\{1,16}u0040|&(?:amp;)*#(?:0*64|x0*40);)`;
const email = new RegExp(`${begin}${local}${at}${String.raw`(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}`}`, "giu");

/** `R.A.Fisher@rothamsted.example` -> `someone@example.org`, with the `@` as it was written */
export const withoutEmails = (text: string): string =>
  text.replaceAll(email, (_, sign: string) => `someone${sign}example.org`);
