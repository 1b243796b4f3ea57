import {
  around,
  collection,
  dropped,
  endpoint,
  entity,
  get,
  integer,
  type Json,
  member,
  object,
  own,
  post,
  renamed,
  type Rule,
  textUpTo,
  unwrapped,
} from "../src/catalogue/index.ts";
import { firstEntry } from "./firstEntry.ts";
import { unknownFlow } from "./outcomes.ts";
import { lasting } from "./lifetimes.ts";

/** Names that legacy's path accepts as they are written. All others need its POST form. */
const plain = /^(?!\.{1,2}$)[A-Za-z0-9~.:_(),-]+$/;

/** Words from which legacy removes the blanks. */
const closedUp =
  "javascript expression vbscript jscript wscript vbs script base64 applet alert document write cookie window confirm prompt eval"
    .split(" ")
    .map((word) => new RegExp(`(?!${word})${word.split("").join(String.raw`\s*`)}\\W`, "i"));

/**
 * Texts that legacy's input filter (CodeIgniter 3's xss_clean) rewrites or that break its SQL: legacy would look for
 * another name.
 */
const rewritten = [
  /["'\\]/,
  /%[0-9a-f]{2}/i,
  // All tags except closed tags without attributes; of these the forbidden tags; entities after any tag.
  /<(?!\/?[a-z0-9]+>)/i,
  /<\/?((script|xss)[a-z0-9]*|alert|prompt|confirm|applet|audio|basefont|base|behavior|bgsound|blink|body|embed|expression|form|frameset|frame|head|html|ilayer|iframe|input|button|select|isindex|layer|link|meta|keygen|object|plaintext|style|textarea|title|math|video|svg|xml|comment|img|a)>/i,
  /<[^]*&/,
  /-->|\?>/,
  /(javascript|vbscript|jscript|wscript|vbs)\s*:/i,
  /data\s*:[^]*base64[^]*,/i,
  /redirect\s+30\d/i,
  /document\.(cookie|write)|\.(parentNode|innerHTML)|-moz-binding/i,
  /(document|window)\.(location|on)/i,
  /(alert|prompt|confirm|cmd|passthru|eval|exec|expression|system|fopen|fsockopen|file|file_get_contents|readfile|unlink)\s*\(/i,
  ...closedUp,
  // oxlint-disable-next-line no-control-regex -- control characters are removed, a tab becomes a blank
  /[\u0000-\u001f\u007f]/,
];

const isNo = (exists: Json | undefined): boolean =>
  exists === false || exists === 0 || (typeof exists === "string" && /^(false|no|0)$/i.test(exists));

/** Reads an id as `-1` if `exists` says that there is no such flow. */
const unlessDenied = <T>(inner: Rule<T>): Rule<T> => ({
  name: "unlessDenied",
  does: "the id of a flow that `exists` denies -> `-1`",
  schema: inner.schema,
  ...around(inner, unlessDenied),
  read(legacy, note, parent) {
    if (!isNo(own(parent, "exists"))) return inner.read(legacy, note, parent);
    note.changed("unlessDenied", legacy, -1);
    return -1;
  },
});

export const findFlow = endpoint("GET /flow/exists/{name}/{external_version?}", {
  summary: "The id of the flow with this name and external version.",
  also: ["GET /flows/exists/{name}/{external_version?}"],
  input: { name: textUpTo(1024), external_version: textUpTo(128) },
  legacy({ name, external_version }) {
    if (plain.test(name) && plain.test(external_version)) return get`/flow/exists/${name}/${external_version}`;
    if (rewritten.some((pattern) => pattern.test(name) || pattern.test(external_version)))
      return { unsent: "The legacy interface cannot be asked for this name: it would look for another." };
    return post("/flow/exists", { name, external_version });
  },
  rejectDocument(ours) {
    const id = member(ours, "flow_id");
    return typeof id === "number" && id <= 0 ? unknownFlow : undefined;
  },
  modern: {
    route: "GET /flows/exists/{name}/{external_version?}",
    problems: { "flow-not-found": unknownFlow },
  },
  output: unwrapped("flow_exists", object({ flow_id: renamed("id", unlessDenied(integer)), exists: dropped })),
  legacyForm: {
    elements: "flow_exists{exists id}",
    adapt(legacy) {
      const id = member(legacy, "flow_exists", "id") ?? -1;
      return { flow_exists: { exists: String(id !== -1), id } };
    },
    none: { flow_id: -1 },
  },

  cache: { ...lasting, groups: (_, ours) => (ours ? entity("flow", ours.flow_id) : [collection("flow")]) },
  first: {
    legacy: { method: "GET", path: "/flow/list/limit/1" },
    input(legacy) {
      const { name, external_version } = firstEntry(legacy, "flows", "flow") ?? {};
      return typeof name === "string" && typeof external_version === "string" ? { name, external_version } : undefined;
    },
  },
  examples: {
    found: { name: "sample.ZeroRule", external_version: "Sample_1.0" },
    unknown: { name: "no.such.flow", external_version: "1" },
  },
  exampleAnswer: { flow_id: 101 },
});
