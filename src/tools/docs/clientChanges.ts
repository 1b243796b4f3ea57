import type { Endpoint } from "../../endpoint/endpoint.ts";
import { parseJson } from "../../rules/parseJson.ts";
import { isObject } from "../../rules/rule.ts";
import { fieldRows } from "./fieldChanges.ts";
import { codeCell, MAX_VALUE, tables } from "./markdown.ts";
import { truncate } from "../../scrub/truncate.ts";

type LegacyExchange = {
  request: { method: string; path: string; form?: Record<string, string>; files?: Record<string, string> };
  response: { status: number; type: string; body: string };
};

/** What is read of a pair of fixtures. */
type ChangePair = {
  endpoint: string;
  ask: { method: string; path: string; key?: string; query?: string; json?: unknown; text?: string };
  legacy: LegacyExchange[];
  expected: { status: number; body: unknown };
};

/** Characters of a request of the new interface, and requests of an endpoint, that are shown. */
const MAX_REQUEST = 110;
const MAX_REQUESTS = 3;
/** The share of endpoints from which on an error counts as one of all. */
const NEARLY_ALL = 0.75;

/** One row of a table of errors; those with the same `key` have the same error before, and the same status and code now. */
type ErrorRow = { key: string; cells: string[] };

const errorHeads = ["error before", "error now"];

/** Each endpoint: how its requests, its fields and its errors change, out of its rules and its fixtures. */
export const clientChanges = (
  endpoints: Readonly<Record<string, Endpoint>>,
  pairs: readonly ChangePair[],
  prefix: string,
): string => {
  const all = Object.entries(endpoints).map(([name, endpoint]) => {
    const own = pairs.filter((pair) => pair.endpoint === name);
    return { name, endpoint, own, errors: errorRows(endpoint, own) };
  });
  const counts = new Map<string, number>();
  for (const { key } of all.flatMap(({ errors }) => errors)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const isCommon = ({ key }: ErrorRow): boolean => (counts.get(key) ?? 0) >= NEARLY_ALL * all.length;
  const common = new Map(
    all
      .flatMap(({ errors }) => errors)
      .filter(isCommon)
      .map(({ key, cells }) => [key, cells]),
  );
  const each = all.map(({ name, endpoint, own, errors }) => {
    const others = errors.filter((row) => !isCommon(row)).map(({ cells }) => cells);
    return [
      `### ${name}`,
      about(endpoint),
      ...tables(requestRows(endpoint, own, prefix), "request before", "request now"),
      ...tables(fieldRows(endpoint, responsesOf(own)), "what changes", "fields", "before", "now"),
      ...tables(others, ...errorHeads),
    ].join("\n\n");
  });
  return [["### Errors of every endpoint", ...tables([...common.values()], ...errorHeads)].join("\n\n"), ...each].join(
    "\n\n",
  );
};

const about = ({ summary, access, format, ...endpoint }: Endpoint): string =>
  [
    summary,
    ...(endpoint.writes ? ["Needs a key that may write."] : []),
    ...(access ? [`A key that may not read it (\`${access.endpoint}\`) gets 403, and nothing is written.`] : []),
    ...(format === "xml" ? ["It is compared with legacy's XML: its JSON lacks fields that the XML has."] : []),
  ].join(" ");

const responsesOf = (pairs: readonly ChangePair[]) =>
  pairs
    .filter(({ expected }) => expected.status === 200)
    .flatMap(({ legacy }) => legacy.map(({ response }) => response));

/** What a client exchanged with legacy itself. Before a write and after an answer the gateway may ask more. */
const clientExchange = (endpoint: Endpoint, { legacy }: ChangePair): LegacyExchange | undefined =>
  legacy.find(({ request }) => !endpoint.writes || request.method === "POST");

/** Requests with answers, written plainly: the shortest one, then those that say most. */
const requestRows = (endpoint: Endpoint, pairs: readonly ChangePair[], prefix: string): string[][] => {
  const rows = new Map<string, string[]>();
  for (const pair of pairs) {
    const { ask, expected } = pair;
    const exchange = clientExchange(endpoint, pair);
    if (expected.status !== 200 || exchange?.response.type !== (endpoint.format ?? "json") || !isPlain(ask)) continue;
    const { method, path } = exchange.request;
    const body = ask.json === undefined || ask.json === null ? "" : ` ${JSON.stringify(ask.json)}`;
    const now = `${ask.method} ${prefix}${ask.path}${body}`;
    const before = [method, `/api/v1${path}`, ...sentIn(exchange.request)].join(" ");
    if (now.length <= MAX_REQUEST) rows.set(before.replaceAll(/\d+/g, "N"), [codeCell(before), codeCell(now)]);
  }
  const sorted = [...rows.values()].toSorted((a, b) => a.join("").length - b.join("").length);
  const [shortest, ...others] = sorted;
  return shortest === undefined ? [] : [shortest, ...others.slice(1 - MAX_REQUESTS)];
};

/** The form of a request, and the files in it without the blanks between their elements. */
const sentIn = ({ form = {}, files = {} }: LegacyExchange["request"]): string[] => [
  ...(Object.keys(form).length === 0 ? [] : [new URLSearchParams(form).toString()]),
  ...Object.entries(files).map(
    ([name, text]) =>
      `${name}=@${text
        .replace(/^<\?.*?\?>/, "")
        .replaceAll(/>\s+</g, "><")
        .trim()}`,
  ),
];

/** Without a slash at its end, escapes, zeros before an id or a body that is not JSON. */
const isPlain = ({ method, path, query, text, json }: ChangePair["ask"]): boolean =>
  method !== "HEAD" &&
  query === undefined &&
  text === undefined &&
  /^(\/([a-zA-Z_.-]|[1-9]|(?<=[\w.-])0)[\w.,()-]*)+$/.test(path) &&
  !/[,/[]0|:0[,}]|-\d|"pagination"/.test(path + JSON.stringify(json));

/** The errors that the fixtures have, by legacy's status and code, and what they become. */
const errorRows = (endpoint: Endpoint, pairs: readonly ChangePair[]): ErrorRow[] => {
  const rows = new Map<string, string[]>();
  for (const pair of pairs) {
    const { status, body } = pair.expected;
    const before = errorBefore(endpoint, pair);
    // A code that legacy does not have, and a request that the gateway never makes, say nothing about legacy.
    if (status < 400 || before === undefined || /"(9\d{3}|100)"/.test(before)) continue;
    const { detail } = body as { detail: unknown };
    // Documents differ in what does not matter here.
    const key = `${before.replace(/(?<=^2\d\d) .*/, "")} ${status} ${isObject(detail as never) ? (detail as { code: string }).code : ""}`;
    const now = codeCell(truncate(`${status} ${JSON.stringify(body).replaceAll('"*"', '"…"')}`, 2 * MAX_VALUE));
    if (!rows.has(key)) rows.set(key, [codeCell(truncate(before, 2 * MAX_VALUE)), now]);
  }
  return [...rows].toSorted(([a], [b]) => a.localeCompare(b)).map(([key, cells]) => ({ key, cells }));
};

/** Legacy's error, or its document that was no error there and is one now; `undefined`: it is neither. */
const errorBefore = (endpoint: Endpoint, pair: ChangePair): string | undefined => {
  const response = clientExchange(endpoint, pair)?.response;
  if (response === undefined) return undefined;
  const { status, type, body } = response;
  const json = parseJson(body);
  const error = isObject(json) ? json["error"] : undefined;
  if (isObject(error))
    return `${status} ${JSON.stringify({ code: error["code"] ?? "", message: trimmed(error["message"]) })}`;
  const xml = /<oml:code>(\d+)<\/oml:code>\s*<oml:message>([^<]*)/.exec(body);
  if (xml !== null) return `${status} in XML: ${JSON.stringify({ code: xml[1], message: trimmed(xml[2]) })}`;
  if (isObject(json) && endpoint.rejectDocument?.(json, { legacyStudies: new Set() }))
    return `${status} ${truncate(body, MAX_VALUE)}`;
  return status >= 500 ? `${status}, ${body.trim() === "" ? "no body" : type.toUpperCase()}` : undefined;
};

const trimmed = (message: unknown): string => (typeof message === "string" ? message.trim() : "");
