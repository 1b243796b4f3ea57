import type { Endpoint } from "../../endpoint/endpoint.ts";
import { transform } from "../../endpoint/transform.ts";
import { collectChanges, type RuleChange } from "../../rules/notes.ts";
import { isObject, type Json, type JsonObject } from "../../rules/rule.ts";

/** What is read of a pair of fixtures. */
type ChangePair = {
  endpoint: string;
  ask: { method: string; path: string; key?: string; query?: string; json?: unknown; text?: string };
  legacy: {
    request: { method: string; path: string; form?: Record<string, string> };
    response: { status: number; type: string; body: string };
  }[];
  expected: { status: number; body: unknown };
};

/** Characters of a value, and requests and errors of an endpoint, that are shown. */
const MAX_VALUE = 60;
const MAX_REQUEST = 110;
const MAX_REQUESTS = 3;
const MAX_ERRORS = 12;

const cell = (text: string): string => text.replaceAll("|", String.raw`\|`).replaceAll(/\s+/g, " ");
const code = (text: string): string => (text.includes("`") ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``);
const cut = (text: string, most = MAX_VALUE): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const shown = (value: Json | undefined): string => (value === undefined ? "absent" : code(cut(JSON.stringify(value))));
const table = (heads: string[], rows: string[][]): string[] => [
  `| ${heads.join(" | ")} |`,
  `| ${heads.map(() => "---").join(" | ")} |`,
  ...rows.map((cells) => `| ${cells.join(" | ")} |`),
];

/** Each endpoint: how its requests, its fields and its errors change, out of its rules and its fixtures. */
export const clientChanges = (
  endpoints: Readonly<Record<string, Endpoint>>,
  pairs: readonly ChangePair[],
  prefix: string,
): string => {
  const isCommon = ({ legacy }: ChangePair): boolean => {
    const before = legacyError(legacy.at(-1)?.response);
    return before !== undefined && /in XML: \{"code":"10\d"|^\d+, /.test(before);
  };
  const common = ["### Errors of every endpoint", ...sections(errorRows(pairs.filter(isCommon)), ...errorHeads)];
  const each = Object.entries(endpoints).map(([name, endpoint]) => {
    const own = pairs.filter((pair) => pair.endpoint === name);
    return [
      `### ${name}`,
      `${endpoint.summary}${endpoint.writes ? " Needs a key that may write." : ""}`,
      ...sections(requestRows(own, prefix), "request before", "request now"),
      ...sections(fieldRows(endpoint, own), "what changes", "fields", "before", "now"),
      ...sections(errorRows(own.filter((pair) => !isCommon(pair))), ...errorHeads),
    ].join("\n\n");
  });
  return [common.join("\n\n"), ...each].join("\n\n");
};

const errorHeads = ["error before", "error now"];

const sections = (rows: string[][], ...heads: string[]): string[] =>
  rows.length === 0 ? [] : [table(heads, rows).join("\n")];

/** Requests with answers, written plainly: the shortest one, then those that say most. */
const requestRows = (pairs: readonly ChangePair[], prefix: string): string[][] => {
  const rows = new Map<string, string[]>();
  for (const { ask, legacy, expected } of pairs) {
    // Before a write the gateway may look whether the caller sees what it changes.
    const exchange = legacy.length === 1 ? legacy[0] : legacy.find(({ request }) => request.method === "POST");
    if (expected.status !== 200 || exchange?.response.type !== "json" || !isPlain(ask)) continue;
    const { method, path, form } = exchange.request;
    const body = ask.json === undefined || ask.json === null ? "" : ` ${JSON.stringify(ask.json)}`;
    const now = `${ask.method} ${prefix}${ask.path}${body}`;
    const before = `${method} /api/v1${path}${form === undefined ? "" : ` ${new URLSearchParams(form).toString()}`}`;
    if (now.length <= MAX_REQUEST) rows.set(before.replaceAll(/\d+/g, "N"), [code(before), code(now)]);
  }
  const sorted = [...rows.values()].toSorted((a, b) => a.join("").length - b.join("").length);
  const [shortest, ...others] = sorted;
  return shortest === undefined ? [] : [shortest, ...others.slice(1 - MAX_REQUESTS)];
};

/** Without a slash at its end, escapes, zeros before an id or a body that is not JSON. */
const isPlain = ({ method, path, query, text, json }: ChangePair["ask"]): boolean =>
  method !== "HEAD" &&
  query === undefined &&
  text === undefined &&
  /^(\/([a-zA-Z_.-]|[1-9]|(?<=[\w.-])0)[\w.,()-]*)+$/.test(path) &&
  !/[,/[]0|:0[,}]|-\d|"pagination"/.test(path + JSON.stringify(json));

const jsonOf = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

const WHOLE = "the answer";

/** `/parameter/3/value` -> `parameter[].value`. */
const placeOf = (at: string): string =>
  at
    .split("/")
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? "[]" : `.${step.replaceAll("~1", "/").replaceAll("~0", "~")}`))
    .join("")
    .replace(/^\./, "") || WHOLE;

/** What the rules do, where, and an example of each out of the fixtures. */
const fieldRows = ({ output }: Endpoint, pairs: readonly ChangePair[]): string[][] => {
  const does = new Map<string, string>();
  const collect = (rule: Endpoint["output"]): void => {
    does.set(rule.name, rule.does);
    for (const inner of Object.values(rule.inside ?? {})) collect(inner);
  };
  collect(output);
  const changes = pairs.flatMap(({ legacy, expected }) =>
    expected.status === 200 ? legacy.flatMap(({ response }) => changesIn(output, jsonOf(response.body))) : [],
  );
  const rows = new Map<string, { places: Set<string>; example: RuleChange }>();
  for (const change of changes) {
    const { at, rule } = change;
    if (!does.has(rule)) continue;
    const row = rows.get(rule) ?? { places: new Set(), example: change };
    rows.set(rule, { places: row.places.add(placeOf(at)), example: better(row.example, change) });
  }
  return [...rows].map(([rule, { places, example }]) => [
    cell(does.get(rule) ?? rule),
    [...places].map((place) => (place === WHOLE ? place : code(place))).join(", "),
    shown(example.before),
    shown(example.after),
  ]);
};

const changesIn = (output: Endpoint["output"], legacy: Json | undefined): RuleChange[] => {
  if (!isObject(legacy) || "error" in legacy) return [];
  const { note, changes } = collectChanges();
  return transform(output, legacy, note).ok ? changes : [];
};

/** Of two examples the one that says more, as long as it is shown whole. */
const better = (a: RuleChange, b: RuleChange): RuleChange => (worth(b) > worth(a) ? b : a);

const worth = ({ before, after }: RuleChange): number => {
  const lengths = [before, after].map((value) => JSON.stringify(value)?.length ?? 0);
  const longest = Math.max(...lengths);
  return longest > MAX_VALUE ? -longest : lengths[0] === 0 ? 0 : longest;
};

/** The errors of legacy's that the fixtures have, by status and code, and what they become. */
const errorRows = (pairs: readonly ChangePair[]): string[][] => {
  const rows = new Map<string, string[]>();
  for (const { legacy, expected } of pairs) {
    if (expected.status < 400) continue;
    const before = legacyError(legacy.at(-1)?.response);
    // A code that legacy does not have, and a request that the gateway never makes, say nothing about legacy.
    if (before === undefined || /"(9\d{3}|100)"/.test(before)) continue;
    const body = JSON.stringify(expected.body).replaceAll('"*"', '"…"');
    const now = code(cut(`${expected.status} ${body}`, 2 * MAX_VALUE));
    const name = `${before} ${expected.status}`;
    if (!rows.has(name)) rows.set(name, [code(cut(before, 2 * MAX_VALUE)), now]);
  }
  return [...rows]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .slice(0, MAX_ERRORS)
    .map(([, row]) => row);
};

const legacyError = (response: ChangePair["legacy"][number]["response"] | undefined): string | undefined => {
  if (response === undefined) return undefined;
  const { status, type, body } = response;
  const json = jsonOf(body) as JsonObject | undefined;
  const error = isObject(json) ? json["error"] : undefined;
  if (isObject(error))
    return `${status} ${JSON.stringify({ code: error["code"] ?? "", message: error["message"] ?? "" })}`;
  const xml = /<oml:code>(\d+)<\/oml:code>\s*<oml:message>([^<]*)/.exec(body);
  if (xml !== null) return `${status} in XML: ${JSON.stringify({ code: xml[1], message: xml[2]?.trim() })}`;
  return status >= 500 ? `${status}, ${body.trim() === "" ? "no body" : type.toUpperCase()}` : undefined;
};
