import type { ReadCounts } from "../../operation/index.ts";
import type { Additions } from "../answer/additions.ts";
import type { Dialect } from "../answer/dialect.ts";
import type { WholeCore } from "../answer/core.ts";
import { ageOf, cacheStatus, contentHeaders, decisionHeader, etagOf, type WriteHeaders } from "../cache/reply.ts";
import { dividesCallers } from "../cache/served.ts";
import { legacyCorsList } from "../http/cors.ts";
import type { MovedReads } from "./movedReads.ts";
import type { PathRead } from "./pathRead.ts";
import { whoAsks } from "./whoAsks.ts";

/**
 * The dialect of reads of legacy's interface. `counts`: counts those that the hit path answers. `moved`: those that
 * another backend may answer.
 */
export const legacyDialect = (
  { keys, trusted }: Pick<WholeCore, "keys" | "trusted">,
  headers: Additions["legacyHeaders"],
  counts: ReadCounts,
  moved: MovedReads | undefined,
): Dialect<PathRead> => ({
  isOfLegacy: true,
  bytes: moved === undefined ? 1000 : 1400,
  ask(request, exchange, read) {
    const sender = whoAsks(request, trusted);
    if (sender === undefined) return undefined;
    const side = moved?.sideOf(read, request, exchange);
    const { cacheKey, formName: form } = side?.moved ?? { cacheKey: read.cacheKeys[sender.scheme] };
    const known = { cacheKey, form, decision: side?.decision };
    const { who, key } = sender;
    if (who === "nobody")
      return { ...known, owner: undefined, keyed: side !== undefined && dividesCallers(side.decision) };
    if (cacheKey.personal || who === "browser") return undefined;
    const owner = key === undefined ? undefined : exchange.caller?.id;
    if (key !== undefined && owner === undefined) return undefined;
    if (owner !== undefined && !keys.isProven(owner)) return undefined;
    return { ...known, owner, keyed: true };
  },
  cors: (_, exchange) => [...legacyCorsList, ...headers.flatMap((headersOf) => headersOf(exchange) ?? [])],
  writeHeaders,
  count({ cacheKey, decision }, reply, ms) {
    counts.count(cacheKey.endpoint, reply === undefined ? "error" : "hit", ms);
    if (decision) moved?.count(decision);
  },
});

const VARY = "Accept-Encoding, Cookie, Authorization";

/** Writes the headers. If the request has a key or a session, shared caches may not reuse the answer. */
const writeHeaders: WriteHeaders = (served, { keyed, cors }, coding, length, now) => {
  const { answer, entry, how } = served;
  const list = contentHeaders(answer.type ?? "application/json", coding, length);
  if (entry === undefined) list.push("Cache-Control", "no-store");
  else {
    if (entry.status === 200) list.push("ETag", etagOf(entry, coding));
    list.push("Cache-Control", keyed ? "private, no-cache" : "public, no-cache", "Vary", VARY);
    if (how.hit || how.detail === "stale-if-error") list.push("Age", ageOf(entry, now));
  }
  list.push("Cache-Status", cacheStatus(served, now));
  if (served.decision) list.push("Gateway-Decision", decisionHeader(served));
  list.push(...Object.entries(answer.headers ?? {}).flat(), ...cors);
  return list;
};
