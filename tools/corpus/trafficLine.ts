import { isObject, type JsonObject, parseJson } from "../../src/catalogue/index.ts";

/** A request as it was found in traffic. */
export type LoggedRequest = {
  method: string;
  /** A URL, or a path with or without a query. */
  url: string;
  /** `undefined`: unknown; empty: there was no body. */
  body?: string;
  /** The keys in its headers. */
  keys: readonly string[];
  status?: number;
};

/**
 * The request in a line of a log or list, whose format is recognized. `"nothing"`: a blank line or a comment.
 * `undefined`: not understood.
 */
export const trafficOfLine = (line: string): LoggedRequest | "nothing" | undefined => {
  const text = line.trim();
  if (text === "" || text.startsWith("#")) return "nothing";
  return text.startsWith("{") ? jsonLine(text) : (listLine(text) ?? accessLine(text));
};

/** `/v1/datasets/61`, `https://a.example/v1/datasets/61` or `GET /v1/datasets/61`. */
const listLine = (text: string): LoggedRequest | undefined => {
  const [, method = "GET", url] = /^(?:([A-Za-z]{3,10})\s+)?((?:\/|https?:\/\/)\S*)$/i.exec(text) ?? [];
  return url === undefined ? undefined : { method, url, keys: [] };
};

/**
 * `[time] "request" status` anywhere in the line: the common and the combined format, with or without a virtual host.
 */
const accessPattern = /\[[^\][]{8,60}\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3}|-)(?:\s|$)/;

const accessLine = (text: string): LoggedRequest | undefined => {
  const [, written, status] = accessPattern.exec(text) ?? [];
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

/** The names by which logs in JSON (nginx, Caddy, pino and others) write a request and its status. */
const names = {
  method: ["method", "request_method"],
  url: ["uri", "url", "path", "target", "request_uri"],
  query: ["args", "query_string"],
  body: ["request_body", "body"],
  status: ["status", "statusCode", "status_code"],
};

/** A line of a log in JSON: the request is a text, an object, or stands beside the other members. */
const jsonLine = (text: string): LoggedRequest | undefined => {
  const json = parseJson(text);
  if (!isObject(json)) return undefined;
  const nested = [json.request, json.req].filter(isObject);
  const request =
    (typeof json.request === "string" ? requestLine(json.request) : undefined) ??
    [...nested, json].map(requestIn).find((found) => found !== undefined);
  if (request === undefined) return undefined;
  // A `body` beside the request may be the answer's.
  const body = textIn(json, ["request_body"]) ?? nested.map((holder) => textIn(holder, names.body)).find(Boolean);
  const keys = [...nested, json].flatMap(({ headers }) => (isObject(headers) ? keysInHeaders(headers) : []));
  const status = [json, json.response, json.res]
    .flatMap((holder) => (isObject(holder) ? names.status.map((name) => statusOf(holder[name])) : []))
    .find((read) => read.status !== undefined);
  return { ...request, keys, ...(body === undefined ? {} : { body }), ...status };
};

const textIn = (holder: JsonObject, some: readonly string[]): string | undefined =>
  some.map((name) => (Object.hasOwn(holder, name) ? holder[name] : undefined)).find((text) => typeof text === "string");

const requestIn = (holder: JsonObject): { method: string; url: string } | undefined => {
  const method = textIn(holder, names.method);
  const url = textIn(holder, names.url);
  if (method === undefined || url === undefined) return undefined;
  // Some servers log the query beside the path.
  const query = url.includes("?") ? undefined : textIn(holder, names.query);
  return { method, url: query ? `${url}?${query}` : url };
};

/** The keys in headers; in a log they may be masked. Legacy itself reads no keys there. */
const keysInHeaders = (headers: JsonObject): string[] =>
  Object.entries(headers).flatMap(([header, value]) => {
    const name = header.toLowerCase();
    const texts = [value].flat().flatMap((text) => (typeof text === "string" ? text.trim() : []));
    if (name === "x-api-key") return texts.filter((text) => text !== "");
    if (name !== "authorization") return [];
    const own = texts.filter((text) => !/^(basic|digest|negotiate)\b/i.test(text));
    return own.map((text) => text.replace(/^bearer(\s+|$)/i, "")).filter((text) => text !== "");
  });

/** `GET /data/61 HTTP/1.1` -> its method and its target. */
const requestLine = (text: string): { method: string; url: string } | undefined => {
  const [, method, url] = /^([A-Za-z]{3,10}) (\S+)(?: HTTP\/[\d.]{1,5})?$/i.exec(text.trim()) ?? [];
  return method === undefined || url === undefined ? undefined : { method, url };
};

const statusOf = (value: unknown): { status?: number } =>
  /^[1-5]\d\d$/.test(String(value)) ? { status: Number(value) } : {};
