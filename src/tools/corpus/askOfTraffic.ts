import { isBelow, pathOf, queryOf } from "../../http/paths.ts";
import { originForm } from "../../http/requestTarget.ts";
import type { CorpusRequest } from "./ask.ts";
import { holdsKey } from "./holdsKey.ts";
import { keysInForm } from "../../legacy/legacyKey.ts";
import { mapLegacyPath } from "./legacyAsk.ts";
import type { TrafficMapper } from "./mapper.ts";
import { mapModernPath } from "./modernAsk.ts";
import { sendable } from "./sendable.ts";
import type { SkipReason } from "./skip.ts";
import type { Traffic } from "./traffic.ts";

export type MappedTraffic = { ask: CorpusRequest } | { skipped: SkipReason };

/** Characters of a target, which no server takes longer, and of a body, of which a sample holds many. */
const MAX_TARGET = 16_384;
const MAX_BODY = 65_536;

/** What asks the new interface for what a request asked, of the new interface or the legacy one; without its key. */
export const mapTraffic = (mapper: TrafficMapper, traffic: Traffic): MappedTraffic => {
  const { url, body, status, answered } = traffic;
  if (url.length > MAX_TARGET || (body?.length ?? 0) > MAX_BODY) return { skipped: "too long" };
  const target = originForm(url);
  const path = sendable(pathOf(target));
  if (path === undefined || !path.startsWith("/") || body?.isWellFormed() === false)
    return { skipped: "not understood" };

  const mapped = mapPath(mapper, traffic.method, path, body);
  if ("skipped" in mapped) return mapped;
  const { ask } = mapped;
  const ofForm = body === undefined || ask.body ? [] : keysInForm(body);
  const keys = [...traffic.keys, ...keysInForm(queryOf(target)), ...ofForm];
  if ([ask.path, JSON.stringify(ask.body ?? null)].some((text) => holdsKey(text, keys)))
    return { skipped: "a key where none belongs" };
  return {
    ask: {
      ...ask,
      keyed: keys.length > 0,
      ...(status === undefined ? {} : { status }),
      shape: answered === undefined ? ask.shape : `${ask.shape} size=1e${String(answered).length - 1}`,
    },
  };
};

const mapPath = (
  { prefixes, legacy, patterns, routed }: TrafficMapper,
  asked: string,
  path: string,
  body: string | undefined,
): MappedTraffic => {
  const upper = asked.toUpperCase();
  const method = upper === "HEAD" ? "GET" : upper;
  const form = legacy.find((one) => isBelow(path, one));
  const prefix = prefixes.find((one) => isBelow(path, one));
  const found = form === undefined && prefix !== undefined ? routed(path.slice(prefix.length)) : undefined;
  if (form === undefined && found === undefined) return { skipped: "not an endpoint" };
  if (["PUT", "PATCH", "DELETE"].includes(method)) return { skipped: "a write" };
  if (method !== "GET" && method !== "POST") return { skipped: "not an endpoint" };
  return form !== undefined
    ? mapLegacyPath(patterns, method, path.slice(form.length), body)
    : found === undefined || prefix === undefined
      ? { skipped: "not an endpoint" }
      : mapModernPath(found, method, path.slice(prefix.length), body);
};
