import { type Coding, acceptedCodings } from "./codings.ts";
import { cacheStatus, type How } from "./cacheStatus.ts";
import type { Entry } from "./entry.ts";
import type { Representation } from "./representation.ts";

/** What of a request decides how an answer is written. */
export type ReplyRequest = {
  method: string;
  acceptEncoding: string | undefined;
  ifNoneMatch: string | undefined;
  /** It came with a key, or another caller may be answered by another side: the answer is for nobody else. */
  keyed: boolean;
  /** The names and values of its CORS headers, flat. */
  cors: readonly string[];
};

/** Status, flat names and values, bytes: what `writeHead` and `end` take. */
export type Reply = { status: number; headers: string[]; body: Buffer | undefined };

/** An answer and how it came about; an entry where it is kept. */
export type Answered = {
  how: How;
  /** Who made it and why, where that is not legacy as usual. */
  decision?: string;
  headers?: readonly string[];
  /** What legacy took of it, and all of it, in milliseconds. */
  upstream?: number;
  took?: number;
} & ({ entry: Entry } | { representation: Representation; cacheable: boolean });

const VARY = "Accept-Encoding, Authorization, X-API-Key";
/** What a page's script may read beside the body. */
const EXPOSED = "Age, Cache-Groups, Cache-Status, ETag, Gateway-Decision, Retry-After, Server-Timing";
/** How an answer is made while nothing is migrated. */
const USUAL = "stage=legacy; backend=legacy; reason=stage";

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** `public` with its windows for what all may see (RFC 9111, RFC 5861). */
const cacheControl = ({ owner, lifetimes: windows, freshUntil, storedAt }: Entry, keyed: boolean): string => {
  if (keyed || owner !== undefined) return "private, no-cache";
  const stale = windows.stale > 0 ? `, stale-while-revalidate=${seconds(windows.stale)}` : "";
  const ifError = windows.staleIfError > 0 ? `, stale-if-error=${seconds(windows.staleIfError)}` : "";
  return `public, max-age=${seconds(Math.max(0, freshUntil - storedAt))}${stale}${ifError}`;
};

/** Cache-Groups is a list of strings (RFC 9875, RFC 9651). */
export const groupList = (groups: readonly string[]): string => groups.map((group) => `"${group}"`).join(", ");

const flat = (headers: Record<string, string> = {}): string[] => Object.entries(headers).flat();

/** An `If-None-Match` compares weakly, and with the tag of every coding: they all stand for the same content. */
const matches = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch.trim() === "*" ||
  [...ifNoneMatch.matchAll(/"([^"]*)"/g)].some(([, given = ""]) => given.replace(/-(br|gzip)$/, "") === tag);

const serverTiming = ({ how, upstream, took }: Answered): string =>
  [
    `cache;desc=${how.hit ? "hit" : how.fwd === undefined ? "none" : "miss"}`,
    ...(upstream === undefined ? [] : [`upstream;dur=${upstream.toFixed(1)}`]),
    ...(took === undefined ? [] : [`total;dur=${took.toFixed(1)}`]),
  ].join(", ");

const chosen = ({ coded }: Representation, accepted: readonly Coding[]): Coding | undefined => {
  for (const coding of accepted) if (coded[coding]) return coding;
  return undefined;
};

/** Has the client's preferred coding made for later requests, where the entry is not in it yet. */
const requestCoding = ({ coded, codingState, onCodingWanted }: Entry, accepted: readonly Coding[]): void => {
  const preferred = accepted.find((coding) => codingState?.[coding] !== "useless");
  if (preferred !== undefined && !coded[preferred]) onCodingWanted?.(preferred);
};

/** Everything but what changes from one request to the next. */
const headersOf = (
  answered: Answered,
  { keyed, cors }: ReplyRequest,
  coding: Coding | undefined,
  length: number | undefined,
  now: number,
): string[] => {
  const entry = "entry" in answered ? answered.entry : undefined;
  const { tag, status, headers } = "entry" in answered ? answered.entry : answered.representation;
  const list = length === undefined ? [] : ["Content-Type", "application/json", "Content-Length", String(length)];
  if (coding !== undefined && length !== undefined) list.push("Content-Encoding", coding);
  if (status === 200 && tag !== "") list.push("ETag", `"${tag}${coding === undefined ? "" : `-${coding}`}"`);
  if (entry) {
    list.push("Cache-Control", cacheControl(entry, keyed), "Vary", VARY);
    if (answered.how.hit || answered.how.detail === "stale-if-error")
      list.push("Age", String(Math.max(0, seconds(now - entry.storedAt))));
    if (entry.groups.length > 0) list.push("Cache-Groups", groupList(entry.groups));
  } else {
    list.push("Cache-Control", keyed ? "private, no-store" : "no-store");
    if ("cacheable" in answered && answered.cacheable) list.push("Vary", VARY);
  }
  list.push("Cache-Status", cacheStatus(answered.how, entry && seconds(entry.freshUntil - now)));
  list.push("Server-Timing", serverTiming(answered), "Gateway-Decision", answered.decision ?? USUAL);
  list.push(...flat(headers), ...(answered.headers ?? []), ...cors, "Access-Control-Expose-Headers", EXPOSED);
  return list;
};

/** A hit as most of them are: nothing to say but that. */
export const HIT: How = { hit: true };

/** The headers of hits, kept for the second in which they stay the same. */
const remembered = (
  answered: Answered & { entry: Entry },
  asker: ReplyRequest,
  coding: Coding | undefined,
  length: number | undefined,
  now: number,
): string[] => {
  const { entry } = answered;
  const second = seconds(now);
  if (entry.rendered?.second !== second || entry.rendered.cors !== asker.cors)
    entry.rendered = { second, cors: asker.cors, lists: [] };
  const { lists } = entry.rendered;
  const place =
    (coding === undefined ? 0 : coding === "br" ? 1 : 2) * 4 + (length === undefined ? 2 : 0) + (asker.keyed ? 1 : 0);
  return (lists[place] ??= headersOf(answered, asker, coding, length, now));
};

/** Writes an answer for one asker: its coding, its validators, 304 where it has it already. */
export const replyWith = (answered: Answered, asker: ReplyRequest, now: number): Reply => {
  const representation = "entry" in answered ? answered.entry : answered.representation;
  const { status, body, coded, tag } = representation;
  const reads = asker.method === "GET" || asker.method === "HEAD";
  const accepted = acceptedCodings(asker.acceptEncoding);
  const coding = chosen(representation, accepted);
  const headers = (used: Coding | undefined, length: number | undefined) =>
    "entry" in answered && answered.how === HIT && answered.took === undefined
      ? remembered(answered, asker, used, length, now)
      : headersOf(answered, asker, used, length, now);
  const { ifNoneMatch } = asker;
  if (reads && status === 200 && tag !== "" && ifNoneMatch !== undefined && matches(ifNoneMatch, tag)) {
    // A cache updates what it has by a tag that is the same, coding included (RFC 9111, section 4.3.4).
    const held = accepted.find((one) => ifNoneMatch.includes(`"${tag}-${one}"`));
    return { status: 304, headers: headers(held ?? coding, undefined), body: undefined };
  }
  // The miss was the first request, a hit is at least the second: from here on compression pays off.
  if (answered.how === HIT && "entry" in answered) requestCoding(answered.entry, accepted);
  const bytes = (coding && coded[coding]) ?? body;
  return {
    status,
    headers: headers(coding, bytes.length),
    body: asker.method === "HEAD" ? undefined : bytes,
  };
};
