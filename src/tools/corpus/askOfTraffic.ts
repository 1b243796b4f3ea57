import { isBelow, pathOf, queryOf, originForm } from "../../http/requestTarget.ts";
import type { Ask } from "./ask.ts";
import { holdsKey } from "./holdsKey.ts";
import { keysInForm } from "./keys.ts";
import { legacyAsk } from "./legacyAsk.ts";
import type { Mapper } from "./mapper.ts";
import { modernAsk } from "./modernAsk.ts";
import { sendable } from "./sendable.ts";
import type { Skip } from "./skip.ts";
import type { Traffic } from "./traffic.ts";

export type Mapped = { ask: Ask } | { skipped: Skip };

/** Characters of a target, which no server takes longer, and of a body, of which a sample holds many. */
const MOST_TARGET = 16_384;
const MOST_BODY = 65_536;

/** What asks the new interface for what a request asked, of the new interface or the legacy one; without its key. */
export const askOfTraffic = (mapper: Mapper, traffic: Traffic): Mapped => {
  const { url, body, status, answered } = traffic;
  if (url.length > MOST_TARGET || (body?.length ?? 0) > MOST_BODY) return { skipped: "too long" };
  const target = originForm(url);
  const path = sendable(pathOf(target));
  if (path === undefined || !path.startsWith("/") || body?.isWellFormed() === false)
    return { skipped: "not understood" };

  const mapped = mappedPath(mapper, traffic.method, path, body);
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

const mappedPath = (
  { prefixes, legacy, patterns, routed }: Mapper,
  asked: string,
  path: string,
  body: string | undefined,
): Mapped => {
  const upper = asked.toUpperCase();
  const method = upper === "HEAD" ? "GET" : upper;
  const form = legacy.find((one) => isBelow(path, one));
  const prefix = prefixes.find((one) => isBelow(path, one));
  const found = form === undefined && prefix !== undefined ? routed(path.slice(prefix.length)) : undefined;
  if (form === undefined && found === undefined) return { skipped: "not an endpoint" };
  if (["PUT", "PATCH", "DELETE"].includes(method)) return { skipped: "a write" };
  if (method !== "GET" && method !== "POST") return { skipped: "not an endpoint" };
  return form !== undefined
    ? legacyAsk(patterns, method, path.slice(form.length), body)
    : found === undefined || prefix === undefined
      ? { skipped: "not an endpoint" }
      : modernAsk(found, method, path.slice(prefix.length), body);
};
