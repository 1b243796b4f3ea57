import { keysInHeaders } from "../../legacy/formFields.ts";
import { parseJson } from "../../rules/parseJson.ts";
import { isObject, type JsonObject } from "../../rules/rule.ts";

/** One request as it is found in traffic. */
export type Traffic = {
  method: string;
  /** A URL, or a path with or without a query. */
  url: string;
  /** `undefined` where it is unknown; empty where there was none. */
  body?: string;
  /** The keys in its headers. */
  keys: readonly string[];
  status?: number;
  /** Bytes of the answer's body, where they are known for certain. */
  answered?: number;
};

/** The request in one line of a log or list, whose format is recognized. `"nothing"`: a blank line or a comment. `undefined`: not understood. */
export const trafficOfLine = (line: string): Traffic | "nothing" | undefined => {
  const text = line.trim();
  if (text === "" || text.startsWith("#")) return "nothing";
  return text.startsWith("{") ? jsonLine(text) : (listLine(text) ?? accessLine(text));
};

/** `/v1/datasets/61`, `https://a.example/v1/datasets/61` or `GET /v1/datasets/61`. */
const listLine = (text: string): Traffic | undefined => {
  const [, method = "GET", url] = /^(?:([A-Za-z]{3,10})\s+)?((?:\/|https?:\/\/)\S*)$/i.exec(text) ?? [];
  return url === undefined ? undefined : { method, url, keys: [] };
};

/** `[time] "request" status` anywhere in the line: the common and the combined format, with or without a virtual host. */
const line = /\[[^\][]{8,60}\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3}|-)(?:\s|$)/;

/** A line of an access log. */
const accessLine = (text: string): Traffic | undefined => {
  const [, written, status] = line.exec(text) ?? [];
  const request = written === undefined ? undefined : requestLine(unquoted(written));
  return request && { ...request, keys: [], ...statusOf(status) };
};

/** Servers escape the bytes that would break the line; in a URL they are percent-encoded. */
const unquoted = (text: string): string =>
  text.includes("\\")
    ? text.replaceAll(/\\(?:x([0-9A-Fa-f]{2})|(["\\]))/g, (_, byte?: string, quoted?: string) =>
        byte === undefined ? encodeURIComponent(quoted ?? "") : `%${byte}`,
      )
    : text;

const methods = ["method", "request_method"];
const targets = ["uri", "url", "path", "target", "request_uri"];
const queries = ["args", "query_string"];
const bodies = ["request_body", "body"];

/** A line of a log in JSON, as nginx, Caddy, pino and others write it. */
const jsonLine = (text: string): Traffic | undefined => {
  const json = parseJson(text);
  if (!isObject(json)) return undefined;
  const nested = [json.request, json.req].filter(isObject);
  const holders = [...nested, json];
  const written = typeof json.request === "string" ? requestLine(json.request) : undefined;
  const request = written ?? holders.map(requestIn).find((one) => one !== undefined);
  if (request === undefined) return undefined;
  // A `body` beside the request may as well be the answer's.
  const body = textIn(json, ["request_body"]) ?? nested.map((one) => textIn(one, bodies)).find(Boolean);
  const headers = holders.flatMap(({ headers: one }) => (isObject(one) ? headersOf(one) : []));
  return { ...request, keys: keysInHeaders(headers), ...(body === undefined ? {} : { body }), ...statusIn(json) };
};

const textIn = (holder: JsonObject, names: readonly string[]): string | undefined => {
  const name = names.find((one) => Object.hasOwn(holder, one) && typeof holder[one] === "string");
  return name === undefined ? undefined : (holder[name] as string);
};

const requestIn = (holder: JsonObject): { method: string; url: string } | undefined => {
  const method = textIn(holder, methods);
  const url = textIn(holder, targets);
  if (method === undefined || url === undefined) return undefined;
  // Some servers log the query beside the path.
  const query = url.includes("?") ? undefined : textIn(holder, queries);
  return { method, url: query ? `${url}?${query}` : url };
};

const headersOf = (headers: JsonObject): (readonly [string, string])[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one) => (typeof one === "string" ? [[name, one] as const] : [])),
  );

const statusIn = (json: JsonObject): { status?: number } => {
  const { response, res } = json;
  const found = [
    json.status,
    json.statusCode,
    json.status_code,
    ...(isObject(response) ? [response.status, response.statusCode] : []),
    ...(isObject(res) ? [res.statusCode, res.status] : []),
  ];
  return found.map(statusOf).find(({ status }) => status !== undefined) ?? {};
};

/** `GET /data/61 HTTP/1.1` -> its method and its target. */
const requestLine = (text: string): { method: string; url: string } | undefined => {
  const [method = "", url = "", version, ...more] = text.trim().split(" ", 4);
  const isOne = /^[A-Za-z]{3,10}$/.test(method) && url !== "" && more.length === 0;
  return isOne && (version === undefined || /^HTTP\/[\d.]{1,5}$/i.test(version)) ? { method, url } : undefined;
};

/** A status in a log, a number or a text. */
export const statusOf = (value: unknown): { status?: number } => {
  const status = typeof value === "string" && /^[1-5]\d\d$/.test(value) ? Number(value) : value;
  return typeof status === "number" && Number.isInteger(status) && status >= 100 && status <= 599 ? { status } : {};
};
