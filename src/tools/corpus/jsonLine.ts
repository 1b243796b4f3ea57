import { parseJson } from "../../rules/parseJson.ts";
import { isObject, type JsonObject } from "../../rules/rule.ts";
import { keysInHeaders } from "../../legacy/legacyKey.ts";
import { requestLine, statusOf } from "./requestLine.ts";
import type { Traffic } from "./traffic.ts";

const methods = ["method", "request_method"];
const targets = ["uri", "url", "path", "target", "request_uri"];
const queries = ["args", "query_string"];
const bodies = ["request_body", "body"];

/** A line of a log in JSON (nginx, Caddy, pino and their like) -> its request; `undefined` where it has none. */
export const jsonLine = (text: string): Traffic | undefined => {
  const json = parseJson(text);
  if (!isObject(json)) return undefined;
  const nested = [json.request, json.req].filter(isObject);
  const holders = [...nested, json];
  const written = typeof json.request === "string" ? requestLine(json.request) : undefined;
  const request = written ?? holders.map(requestIn).find((one) => one !== undefined);
  if (request === undefined) return undefined;
  // A body beside the request is as likely the answer's.
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
  // Some log the query beside the path.
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
