import { keysInHeaders } from "../../legacy/formFields.ts";
import { parseJson } from "../../rules/parseJson.ts";
import { isObject, type Json, type JsonObject } from "../../rules/rule.ts";
import { statusOf, type Traffic } from "./trafficLine.ts";

/** Whether a file with this beginning is a HAR, not a log of JSON lines. */
export const isHar = (beginning: string): boolean => {
  const [first = ""] = beginning.trimStart().split("\n", 1);
  if (first.trim() === "{") return true;
  if (!/^\{\s*"log"\s*:\s*(\{|$)/.test(first)) return false;
  // A first line that is a whole object may be one of many.
  return entriesIn(first) !== undefined || parseHar(first) === undefined;
};

/** The requests of a HAR, `undefined` for an entry without one; or `undefined` where the text is not a HAR. */
export const harTraffic = (text: string): (Traffic | undefined)[] | undefined => entriesIn(text)?.map(trafficOf);

const entriesIn = (text: string): Json[] | undefined => {
  const har = parseHar(text);
  const log = isObject(har) ? har.log : undefined;
  return isObject(log) && Array.isArray(log.entries) ? log.entries : undefined;
};

const parseHar = (text: string): Json | undefined => parseJson(text.replace(/^\uFEFF/, ""));

const trafficOf = (entry: Json): Traffic | undefined => {
  const request = member(entry, "request");
  const { method, url } = request;
  if (typeof method !== "string" || typeof url !== "string") return undefined;
  const response = member(entry, "response");
  const { size } = member(response, "content");
  const isSized = typeof size === "number" && Number.isSafeInteger(size) && size > 0;
  return {
    method,
    url,
    keys: keysInHeaders(pairsIn(request.headers)),
    ...bodyOf(request),
    ...statusOf(response.status),
    ...(isSized ? { answered: size } : {}),
  };
};

const member = (holder: Json, name: string): JsonObject => {
  const value = isObject(holder) ? holder[name] : undefined;
  return isObject(value) ? value : {};
};

const pairsIn = (list: Json | undefined): [name: string, value: string][] =>
  (Array.isArray(list) ? list : []).flatMap((one): [string, string][] =>
    isObject(one) && typeof one.name === "string" && typeof one.value === "string" ? [[one.name, one.value]] : [],
  );

const bodyOf = (request: JsonObject): { body?: string } => {
  const { text, params } = member(request, "postData");
  if (typeof text === "string" && text !== "") return { body: text };
  const fields = pairsIn(params);
  if (fields.length > 0) return { body: new URLSearchParams(fields).toString() };
  return text === "" || request.bodySize === 0 ? { body: "" } : {};
};
